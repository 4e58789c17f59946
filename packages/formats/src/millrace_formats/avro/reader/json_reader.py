"""Read Avro's JSON encoding: bytes as strings of a character each, values of unions tagged with their branch's name.

The encoding: https://avro.apache.org/docs/1.12.0/specification/#json-encoding.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from millrace.errors import MalformedMessageError, MissingValueError
from millrace_formats.avro.reader.conversions import decode_text
from millrace_formats.avro.reader.read_plan import (
    ListPlan,
    MapPlan,
    NullPlan,
    ReadPlan,
    RecordPlan,
    ScalarPlan,
    SkipPlan,
    UnionPlan,
    UnreadablePlan,
)
from millrace_formats.avro.schema.model import INT_MAX, INT_MIN, NULL, AvroEnum, Fixed, Primitive, branch_name

Read = Callable[[Any], Any]

_MAX_SHOWN = 80
_LONG_MIN, _LONG_MAX = -(1 << 63), (1 << 63) - 1
_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def load_json(payload: bytes) -> Any:
    """Parse a message; MalformedMessageError when it is not one JSON document."""
    text = decode_text(payload)
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise MalformedMessageError(f"not JSON: {error.msg} at character {error.pos}") from None
    except ValueError:
        raise MalformedMessageError("a number with too many digits") from None


def _refuse_constant(text: str) -> Any:
    raise MalformedMessageError(f"not JSON: {text} is not a JSON number")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def json_reader(plan: ReadPlan, *, is_tagged: bool = True) -> Read:
    """Return a reader of the values of a plan, ready for ``pa.array``, from parsed JSON.

    Args:
        plan: The plan.
        is_tagged: Whether a union's value comes with the name of its branch, as in a message; else, as in a field's
            default, it belongs to the first branch that takes it.
    """
    return _READERS[type(plan)](plan, is_tagged)


def _unreadable_reader(plan: UnreadablePlan, _: bool) -> Read:
    def refuse(_: Any) -> Any:
        raise MalformedMessageError(plan.reason)

    return refuse


def _scalar_reader(plan: ScalarPlan, _: bool) -> Read:
    read_raw, convert = _raw_reader(plan.writer), plan.conversion.value
    return lambda value: convert(read_raw(value))


def _record_reader(plan: RecordPlan, is_tagged: bool) -> Read:
    parts = [
        (field.name, json_reader(part, is_tagged=is_tagged), column)
        for field, (part, column) in zip(plan.writer.fields, plan.parts, strict=True)
        if column is not None
    ]
    columns = plan.fields

    def read(record: Any) -> dict[str, Any]:
        if not isinstance(record, dict):
            raise MalformedMessageError(f"{_shorten(record)} is not an object")
        values = [plan.defaults.get(column) for column in range(len(columns))]
        for name, read_part, column in parts:
            if name not in record:
                raise MalformedMessageError("the field is missing", name)
            try:
                value = read_part(record[name])
            except MalformedMessageError as error:
                raise error.within(name) from None
            if value is None and not columns[column].nullable:
                raise MissingValueError(columns[column].name)
            values[column] = value
        return {field.name: value for field, value in zip(columns, values, strict=True)}

    return read


def _list_reader(plan: ListPlan, is_tagged: bool) -> Read:
    read_item, is_required = json_reader(plan.item, is_tagged=is_tagged), not plan.field.nullable

    def read(items: Any) -> list[Any]:
        if not isinstance(items, list):
            raise MalformedMessageError(f"{_shorten(items)} is not an array")
        return [_read_part(read_item, item, f"[{index}]", is_required) for index, item in enumerate(items)]

    return read


def _map_reader(plan: MapPlan, is_tagged: bool) -> Read:
    read_value, is_required = json_reader(plan.value, is_tagged=is_tagged), not plan.field.nullable

    def read(entries: Any) -> list[tuple[str, Any]]:
        if not isinstance(entries, dict):
            raise MalformedMessageError(f"{_shorten(entries)} is not an object")
        return [
            (_check_text(key), _read_part(read_value, value, f'["{key}"]', is_required))
            for key, value in entries.items()
        ]

    return read


def _read_part(read: Read, part: Any, step: str, is_required: bool) -> Any:
    try:
        value = read(part)
        if value is None and is_required:
            raise MissingValueError("")
    except MalformedMessageError as error:
        raise error.within(step) from None
    return value


def _union_reader(plan: UnionPlan, is_tagged: bool) -> Read:
    return _tagged_union_reader(plan) if is_tagged else _plain_union_reader(plan)


def _tagged_union_reader(plan: UnionPlan) -> Read:
    branches = {
        branch_name(type_): json_reader(branch)
        for type_, branch in zip(plan.writer.branches, plan.branches, strict=True)
        if type_ != NULL
    }
    is_nullable = NULL in plan.writer.branches

    def read(value: Any) -> Any:
        if value is None and is_nullable:
            return None
        if not isinstance(value, dict) or len(value) != 1:
            raise MalformedMessageError(
                f"{_shorten(value)} is not an object of one field named after a branch of the union"
            )
        ((name, inner),) = value.items()
        if name not in branches:
            raise MalformedMessageError(f"the union has no branch {_shorten(name)}; it has {', '.join(branches)}")
        return branches[name](inner)

    return read


def _plain_union_reader(plan: UnionPlan) -> Read:
    branches = [json_reader(branch, is_tagged=False) for branch in plan.branches]

    def read(value: Any) -> Any:
        for read_branch in branches:
            try:
                return read_branch(value)
            except MalformedMessageError:
                continue
        raise MalformedMessageError(f"{_shorten(value)} matches no branch of the union")

    return read


def _raw_reader(type_: Primitive | Fixed | AvroEnum) -> Read:
    """Return a reader of raw values, see ``reader.conversions``."""
    if isinstance(type_, Fixed):
        return lambda value: _read_bytes(value, type_.size)
    if isinstance(type_, AvroEnum):
        return lambda value: _read_symbol(value, type_.symbols)
    return _PRIMITIVE_READERS[type_.kind]


def _read_null(value: Any) -> None:
    if value is not None:
        raise MalformedMessageError(f"{_shorten(value)} is not null")


def _read_bytes(value: Any, size: int | None = None) -> bytes:
    try:
        data = value.encode("latin-1") if isinstance(value, str) else None
    except UnicodeEncodeError:
        data = None
    if data is None or size not in (None, len(data)):
        expected = "bytes" if size is None else f"{size} bytes"
        raise MalformedMessageError(
            f"{_shorten(value)} is not a string of {expected}, a character from U+0000 to U+00FF for each"
        )
    return data


def _read_symbol(value: Any, symbols: tuple[str, ...]) -> str:
    if value not in symbols:
        raise MalformedMessageError(f"{_shorten(value)} is not one of the symbols")
    return str(value)


def _integer_reader(low: int, high: int, name: str) -> Read:
    def read(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise MalformedMessageError(f"{_shorten(value)} is not {name}")
        return value

    return read


def _read_float(value: Any) -> float:
    if isinstance(value, str) and value in _NOT_FINITE:
        return _NOT_FINITE[value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MalformedMessageError(f"{_shorten(value)} is not a number")
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _read_boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise MalformedMessageError(f"{_shorten(value)} is not a boolean")
    return value


def _read_string(value: Any) -> bytes:
    if not isinstance(value, str):
        raise MalformedMessageError(f"{_shorten(value)} is not a string")
    return _check_text(value).encode()


def _check_text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise MalformedMessageError(f"{_shorten(value)} has an unpaired surrogate") from None
    return value


def _shorten(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


_PRIMITIVE_READERS: dict[str, Read] = {
    "null": _read_null,
    "boolean": _read_boolean,
    "int": _integer_reader(INT_MIN, INT_MAX, "an int"),
    "long": _integer_reader(_LONG_MIN, _LONG_MAX, "a long"),
    "float": _read_float,
    "double": _read_float,
    "bytes": _read_bytes,
    "string": _read_string,
}

_READERS: dict[type, Callable[[Any, bool], Read]] = {
    SkipPlan: lambda _, __: lambda ___: None,
    NullPlan: lambda _, __: _read_null,
    UnreadablePlan: _unreadable_reader,
    ScalarPlan: _scalar_reader,
    ListPlan: _list_reader,
    MapPlan: _map_reader,
    UnionPlan: _union_reader,
    RecordPlan: _record_reader,
}
