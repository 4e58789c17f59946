"""Find the messages that may not fit the columns: msgspec decodes into classes that accept only what surely fits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Annotated, Any, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from millrace_catalog.evolution.type_fit import fitting_type
from millrace_catalog.inference.json_types import MAX_DEPTH, JsonValueTypes
from millrace_catalog.inference.options import JsonSchemaOptions
from millrace_catalog.types import ArrayType, DataType, MapType, RowType, ScalarType
from millrace_catalog.types.model import Kind

Check = Callable[[list[Any]], bool]
"""A test that all values of a column surely fit."""


class ExpectedShape(NamedTuple):
    """The shape of a value that surely fits.

    Attributes:
        type: Type for msgspec to decode.
        check: Further check of the decoded values.
    """

    type: Any
    check: Check | None = None


_INT64 = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
_ANYTHING = ExpectedShape(msgspec.Raw)
_NULL = ExpectedShape(None)
_NO_OBJECT = ExpectedShape(str | int | float | bool | list | None)
# A whole number beyond 64 bits is a DECIMAL, which does not combine with DOUBLE
_PRIMITIVES: dict[Kind, ExpectedShape] = {
    "BOOLEAN": ExpectedShape(bool | None),
    "BIGINT": ExpectedShape(_INT64 | None),
    "DOUBLE": ExpectedShape(_INT64 | float | None),
}
_TIMES: set[Kind] = {"DATE", "TIMESTAMP", "TIMESTAMP_LTZ"}

# All days except February 29th, of years in which no time zone offset leads to a year that does not exist
_IN_YEAR = r"((0[13-9]|1[0-2])-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8])|(0[13578]|1[02])-31)"
_DAY = rf"[1-8][0-9]{{3}}-{_IN_YEAR}"
_HOUR = r"([01][0-9]|2[0-3])"
_ZONE = rf"(Z|[+-]{_HOUR}(:?[0-5][0-9])?)"


class FitPrefilter:
    """Find the messages that may not fit.

    Args:
        types: Types of the columns by name.
        options: Options by which columns are inferred.
        null_fields: Further fields that may be present as nulls.
    """

    def __init__(
        self, types: Mapping[str, DataType], options: JsonSchemaOptions, null_fields: Collection[str] = ()
    ) -> None:
        shape = _ShapeBuilder(types, options).message_shape(null_fields)
        self._decode = None if shape is None else msgspec.json.Decoder(shape.type).decode
        self._check = None if shape is None else shape.check

    def uncertain(self, items: Sequence[bytes | None]) -> Sequence[int]:
        """Return the indices of the messages that may not fit, ascending."""
        if self._decode is None:
            return range(len(items))
        decoded, refused = _decode_each(self._decode, items)
        return refused if self._check is None or self._check(decoded) else range(len(items))


def _decode_each(decode: Callable[[Any], Any], items: Sequence[bytes | None]) -> tuple[list[Any], list[int]]:
    """Decode messages; return the decoded ones and the indices of those that msgspec refuses."""
    decoded: list[Any] = []
    refused: list[int] = []
    remaining = iter(items)
    while True:
        try:
            # extend keeps what came before an error
            decoded.extend(map(decode, remaining))
        except (msgspec.MsgspecError, UnicodeDecodeError, TypeError, RecursionError):
            refused.append(len(decoded) + len(refused))
        else:
            return decoded, refused


class _ShapeBuilder:
    """Build the expected shapes of columns."""

    def __init__(self, types: Mapping[str, DataType], options: JsonSchemaOptions) -> None:
        self._types = types
        self._iso = options.iso
        self._primitive_as_string = options.primitive_as_string
        self._flattens = options.nesting == "flatten"
        self._fixed = {column.name for column in options.fixed_types}
        self._values = JsonValueTypes(
            iso=options.iso,
            primitive_as_string=options.primitive_as_string,
            with_rows=options.nesting == "struct",
        )

    def message_shape(self, null_fields: Collection[str]) -> ExpectedShape | None:
        """Return the shape of messages; None when msgspec has no class with these fields."""
        fields = self._flattened_fields() if self._flattens else {name: self._column(name) for name in self._types}
        fields |= {name: _NULL for name in null_fields if name not in fields and not (self._flattens and "." in name)}
        try:
            return _struct(fields)
        except ValueError:
            return None  # a name with quotes or control characters

    def _column(self, name: str) -> ExpectedShape:
        return _ANYTHING if name in self._fixed else self._shape(self._types[name])

    def _shape(self, type_: DataType) -> ExpectedShape:
        if not type_.nullable or isinstance(type_, MapType):
            return self._exact(type_)
        if isinstance(type_, ArrayType):
            return _list(self._shape(type_.element))
        if isinstance(type_, RowType):
            return _optional(_struct({field.name: self._shape(field.type) for field in type_.fields}))
        return self._scalar(type_)

    def _scalar(self, type_: ScalarType) -> ExpectedShape:
        if type_.kind == "STRING":
            return _ANYTHING
        if self._primitive_as_string:
            return _NULL
        if type_.kind in _TIMES:
            return ExpectedShape(str | None, self._time_check(type_))
        return _PRIMITIVES.get(type_.kind) or self._exact(type_)

    def _exact(self, type_: DataType) -> ExpectedShape:
        type_of = self._values.type_of

        def check(values: list[Any]) -> bool:
            types = list(map(type_of, values))
            different = {id(inferred): inferred for inferred in types}.values()
            return all(fitting_type(type_, inferred) == type_ for inferred in different)

        return ExpectedShape(Any, check)

    def _time_check(self, type_: ScalarType) -> Check:
        uncertain, exactly = uncertain_times(type_, iso=self._iso), self._exact(type_).check
        return lambda values: not (rest := uncertain(values)) or exactly is None or exactly(rest)

    def _flattened_fields(self) -> dict[str, ExpectedShape]:
        """Return the shapes of the outermost fields, where columns are named by the paths to their fields."""
        tree: dict[str, Any] = {}
        for name in self._types:
            path = name.split(".")
            if len(path) < MAX_DEPTH:
                node = tree
                for part in path:
                    node = node.setdefault(part, {})
        return self._nodes("", tree)

    def _nodes(self, outer: str, nodes: dict[str, Any]) -> dict[str, ExpectedShape]:
        # A field of fixed type is a column whatever it holds, so that its first value is a new column
        unknown = self._fixed - self._types.keys()
        paths = {part: outer + part for part in nodes if outer + part not in unknown}
        return {part: self._node(path, nodes[part]) for part, path in paths.items()}

    def _node(self, path: str, node: dict[str, Any]) -> ExpectedShape:
        if path in self._fixed:
            return _ANYTHING
        leaf = self._leaf(path)
        if not node:
            return leaf or _NULL
        inner = _optional(_struct(self._nodes(f"{path}.", node)))
        if leaf is None:
            return inner
        # A field that is a value in some messages and an object in others is rare: with checks, compare it exactly
        return _NULL if leaf.check or inner.check else ExpectedShape(inner.type | leaf.type)

    def _leaf(self, path: str) -> ExpectedShape | None:
        if path not in self._types:
            return None
        shape = self._shape(self._types[path])
        return _NO_OBJECT if shape is _ANYTHING else shape


def _optional(shape: ExpectedShape) -> ExpectedShape:
    return ExpectedShape(shape.type | None, shape.check)


def _list(element: ExpectedShape) -> ExpectedShape:
    type_ = list[element.type] | None  # type: ignore[name-defined] # the type exists at run time only
    if element.check is None:
        return ExpectedShape(type_)
    check = element.check
    return ExpectedShape(type_, lambda values: check(list(chain.from_iterable(filter(None, values)))))


def _struct(fields: Mapping[str, ExpectedShape]) -> ExpectedShape:
    """Return the shape of an object that has some of these fields and no others."""
    definitions: list[Any] = []
    checks: list[tuple[Callable[[Any], Any], Check]] = []
    for index, shape in enumerate(fields.values()):
        absent = msgspec.Raw(b"null") if shape.type is msgspec.Raw else None
        definitions.append((f"f{index}", shape.type, absent))
        if shape.check is not None:
            checks.append((attrgetter(f"f{index}"), shape.check))
    names = {f"f{index}": name for index, name in enumerate(fields)}
    type_ = msgspec.defstruct("Row", definitions, rename=names, gc=False, kw_only=True, forbid_unknown_fields=True)

    def check(rows: list[Any]) -> bool:
        present = [row for row in rows if row is not None]
        return all(fits(list(map(get, present))) for get, fits in checks)

    return ExpectedShape(type_, check if checks else None)


def uncertain_times(type_: ScalarType, *, iso: bool) -> Callable[[list[Any]], list[str]]:
    """Return a function that keeps the texts of a column that may not be of its type.

    It recognizes a whole column at once; the exact `time_text_reader` decides about the rest.

    Args:
        type_: DATE, TIMESTAMP or TIMESTAMP_LTZ.
        iso: Whether date and time are separated by ``T``, else by a space.
    """
    pattern = f"^{_DAY if type_.kind == 'DATE' else _timestamp(type_, iso=iso)}$"

    def uncertain(values: list[Any]) -> list[str]:
        texts = pa.array(values, pa.string())
        return texts.filter(pc.invert(pc.match_substring_regex(texts, pattern))).to_pylist()

    return uncertain


def _timestamp(type_: ScalarType, *, iso: bool) -> str:
    zone = f"{_ZONE}?" if type_.kind == "TIMESTAMP_LTZ" else ""
    return rf"{_DAY}{'T' if iso else ' '}{_HOUR}:[0-5][0-9]:[0-5][0-9](\.[0-9]{{1,{type_.size or 0}}})?{zone}"
