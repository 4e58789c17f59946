"""Finding out quickly that messages fit: msgspec reads them as classes that take nothing but what fits for certain."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Annotated, Any, NamedTuple

import msgspec

from millrace_catalog.evolution.type_fit import fitting_type
from millrace_catalog.inference.json_types import DEEPEST, ValueTypes
from millrace_catalog.inference.options import JsonSchemaOptions
from millrace_catalog.inference.time_patterns import uncertain_times
from millrace_catalog.types import Array, DataType, Map, Row, Scalar
from millrace_catalog.types.model import Kind

Check = Callable[[list[Any]], bool]
"""Whether all values of a column fit for certain."""


class Shape(NamedTuple):
    """What a value must be to fit.

    Attributes:
        type: What msgspec is asked for.
        check: What is to be looked at beyond it.
    """

    type: Any
    check: Check | None = None


_INT64 = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
_ANYTHING = Shape(msgspec.Raw)
_NULL = Shape(None)
_NO_OBJECT = Shape(str | int | float | bool | list | None)
# A whole number beyond 64 bits is a DECIMAL, which does not go with DOUBLE
_SIMPLE: dict[Kind, Shape] = {
    "BOOLEAN": Shape(bool | None),
    "BIGINT": Shape(_INT64 | None),
    "DOUBLE": Shape(_INT64 | float | None),
}
_TIMES: set[Kind] = {"DATE", "TIMESTAMP", "TIMESTAMP_LTZ"}


class FastFit:
    """Tells which messages may not fit.

    Args:
        types: The columns' types.
        options: How they are inferred.
        nulls: Further fields that may be there as nulls.
    """

    def __init__(self, types: Mapping[str, DataType], options: JsonSchemaOptions, nulls: Collection[str] = ()) -> None:
        shape = _Shapes(types, options).of_message(nulls)
        self._decode = None if shape is None else msgspec.json.Decoder(shape.type).decode
        self._check = None if shape is None else shape.check

    def doubtful(self, items: Sequence[bytes | None]) -> Sequence[int]:
        """The indexes of the messages that may not fit, ascending."""
        if self._decode is None:
            return range(len(items))
        found, left = _decode_each(self._decode, items)
        return left if self._check is None or self._check(found) else range(len(items))


def _decode_each(decode: Callable[[Any], Any], items: Sequence[bytes | None]) -> tuple[list[Any], list[int]]:
    """What msgspec makes of messages, and the indexes of those that it refuses."""
    found: list[Any] = []
    left: list[int] = []
    pending = iter(items)
    while True:
        try:
            # extend keeps what came before an error
            found.extend(map(decode, pending))
        except (msgspec.MsgspecError, UnicodeDecodeError, TypeError, RecursionError):
            left.append(len(found) + len(left))
        else:
            return found, left


class _Shapes:
    """Makes the shapes of columns."""

    def __init__(self, types: Mapping[str, DataType], options: JsonSchemaOptions) -> None:
        self._types = types
        self._iso = options.iso
        self._plain = options.primitive_as_string
        self._flattens = options.nesting == "flatten"
        self._fixed = {column.name for column in options.fixed_types}
        with_rows = options.nesting == "struct"
        self._values = ValueTypes(iso=options.iso, primitive_as_string=self._plain, with_rows=with_rows)

    def of_message(self, nulls: Collection[str]) -> Shape | None:
        """The shape of messages; None when msgspec cannot tell them."""
        fields = self._of_paths() if self._flattens else {name: self._of_column(name) for name in self._types}
        fields |= {name: _NULL for name in nulls if name not in fields and not (self._flattens and "." in name)}
        try:
            return _struct(fields)
        except ValueError:
            return None  # a name with quotes or control characters

    def _of_column(self, name: str) -> Shape:
        return _ANYTHING if name in self._fixed else self._of(self._types[name])

    def _of(self, type_: DataType) -> Shape:
        if not type_.nullable:
            return self._exactly(type_)
        if isinstance(type_, Array):
            return _list(self._of(type_.element))
        if isinstance(type_, Row):
            return _optional(_struct({field.name: self._of(field.type) for field in type_.fields}))
        if isinstance(type_, Map):
            return self._exactly(type_)
        if type_.kind == "STRING":
            return _ANYTHING
        if self._plain:
            return _NULL
        if type_.kind in _TIMES:
            return Shape(str | None, self._is_time(type_))
        return _SIMPLE.get(type_.kind) or self._exactly(type_)

    def _exactly(self, type_: DataType) -> Shape:
        type_of = self._values.of

        def check(values: list[Any]) -> bool:
            types = list(map(type_of, values))
            different = {id(each): each for each in types}.values()
            return all(fitting_type(type_, each) == type_ for each in different)

        return Shape(Any, check)

    def _is_time(self, type_: Scalar) -> Check:
        uncertain, exactly = uncertain_times(type_, iso=self._iso), self._exactly(type_).check
        return lambda values: not (left := uncertain(values)) or exactly is None or exactly(left)

    def _of_paths(self) -> dict[str, Shape]:
        """The shapes of the outermost fields, where columns are named by the paths to their fields."""
        tree: dict[str, Any] = {}
        for name in self._types:
            path = name.split(".")
            if len(path) < DEEPEST:
                node = tree
                for part in path:
                    node = node.setdefault(part, {})
        return self._of_nodes("", tree)

    def _of_nodes(self, outer: str, nodes: dict[str, Any]) -> dict[str, Shape]:
        # Where a type is fixed an object is not gone into, and anything at all is a column
        unknown = self._fixed - self._types.keys()
        paths = {part: outer + part for part in nodes if outer + part not in unknown}
        return {part: self._of_node(path, nodes[part]) for part, path in paths.items()}

    def _of_node(self, path: str, node: dict[str, Any]) -> Shape:
        if path in self._fixed:
            return _ANYTHING
        leaf = self._of_leaf(path)
        if not node:
            return leaf or _NULL
        inner = _optional(_struct(self._of_nodes(f"{path}.", node)))
        if leaf is None:
            return inner
        # Rare, so that what needs a further look is left to the exact way
        return _NULL if leaf.check or inner.check else Shape(inner.type | leaf.type)

    def _of_leaf(self, path: str) -> Shape | None:
        if path not in self._types:
            return None
        shape = self._of(self._types[path])
        return _NO_OBJECT if shape is _ANYTHING else shape


def _optional(shape: Shape) -> Shape:
    return Shape(shape.type | None, shape.check)


def _list(element: Shape) -> Shape:
    if element.check is None:
        return Shape(list[element.type] | None)  # type: ignore[name-defined]
    check = element.check
    return Shape(
        list[element.type] | None,  # type: ignore[name-defined]
        lambda values: check(list(chain.from_iterable(filter(None, values)))),
    )


def _struct(fields: Mapping[str, Shape]) -> Shape:
    """An object that has some of these fields and no others."""
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
        there = [row for row in rows if row is not None]
        return all(fits(list(map(get, there))) for get, fits in checks)

    return Shape(type_, check if checks else None)
