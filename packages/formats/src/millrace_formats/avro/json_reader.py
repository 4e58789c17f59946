"""Reads Avro's JSON encoding: numbers as they are, bytes as text of so many characters, unions with a branch's name."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from millrace.errors import MalformedMessageError, MissingValueError
from millrace_formats.avro.model import NULL, Enum, Fixed, Scalar, branch_name
from millrace_formats.avro.number_values import INT_HIGH, INT_LOW
from millrace_formats.avro.plan import Choice, Items, Null, Pairs, Plan, Rows, Skip, Unreadable, Value

Read = Callable[[Any], Any]

_SHOWN = 80
_INT64_LOW, _INT64_HIGH = -(1 << 63), (1 << 63) - 1
_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def parse_json(payload: bytes) -> Any:
    """The value that a message holds; MalformedMessageError when it is not one JSON document."""
    try:
        return _PARSER.decode(payload.decode())
    except UnicodeDecodeError as error:
        raise MalformedMessageError(f"not UTF-8: byte {payload[error.start]:#04x} at position {error.start}") from None
    except json.JSONDecodeError as error:
        raise MalformedMessageError(f"not JSON: {error.msg} at character {error.pos}") from None
    except ValueError:
        raise MalformedMessageError("a number of too many digits") from None


def _no_constant(text: str) -> Any:
    raise MalformedMessageError(f"not JSON: {text} is not a JSON number")


_PARSER = json.JSONDecoder(parse_constant=_no_constant)


def json_reader(plan: Plan, *, tagged: bool = True) -> Read:
    """A reader of the values that a plan gives, from parsed JSON: what ``pa.array`` takes.

    Args:
        plan: The plan.
        tagged: Whether a union's value comes with the name of its branch, as in a message; else, as in a default, it
            is of whichever branch takes it.
    """
    return _READERS[type(plan)](plan, tagged)


def _refuser(plan: Unreadable, _: bool) -> Read:
    def refuse(_: Any) -> Any:
        raise MalformedMessageError(plan.reason)

    return refuse


def _null(value: Any) -> None:
    if value is not None:
        raise MalformedMessageError(f"{_shown(value)} is not null")


def _value(plan: Value, _: bool) -> Read:
    raw, convert = _raw(plan.writer), plan.conversion.one
    return lambda value: convert(raw(value))


def _rows(plan: Rows, tagged: bool) -> Read:
    labels = [field.name for field in plan.writer.fields]
    wanted = [
        (label, json_reader(part, tagged=tagged), column)
        for label, (part, column) in zip(labels, plan.parts, strict=True)
        if column is not None
    ]
    fields = plan.fields

    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise MalformedMessageError(f"{_shown(value)} is not an object")
        values = [plan.defaults.get(column) for column in range(len(fields))]
        for label, part, column in wanted:
            if label not in value:
                raise MalformedMessageError("the field is missing", label)
            try:
                found = part(value[label])
            except MalformedMessageError as error:
                raise error.within(label) from None
            if found is None and not fields[column].nullable:
                raise MissingValueError(fields[column].name)
            values[column] = found
        return {field.name: found for field, found in zip(fields, values, strict=True)}

    return read


def _items(plan: Items, tagged: bool) -> Read:
    item, needed = json_reader(plan.item, tagged=tagged), not plan.field.nullable

    def read(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise MalformedMessageError(f"{_shown(value)} is not an array")
        return [_part(item, one, f"[{index}]", needed) for index, one in enumerate(value)]

    return read


def _pairs(plan: Pairs, tagged: bool) -> Read:
    value_of, needed = json_reader(plan.value, tagged=tagged), not plan.field.nullable

    def read(value: Any) -> list[tuple[str, Any]]:
        if not isinstance(value, dict):
            raise MalformedMessageError(f"{_shown(value)} is not an object")
        return [(_text(key), _part(value_of, one, f'["{key}"]', needed)) for key, one in value.items()]

    return read


def _part(read: Read, value: Any, step: str, needed: bool) -> Any:
    try:
        found = read(value)
        if found is None and needed:
            raise MissingValueError("")
    except MalformedMessageError as error:
        raise error.within(step) from None
    return found


def _choice(plan: Choice, tagged: bool) -> Read:
    return _tagged_choice(plan) if tagged else _plain_choice(plan)


def _tagged_choice(plan: Choice) -> Read:
    branches = {
        branch_name(type_): json_reader(branch)
        for type_, branch in zip(plan.writer.branches, plan.branches, strict=True)
        if type_ != NULL
    }
    may_be_null = NULL in plan.writer.branches

    def read(value: Any) -> Any:
        if value is None and may_be_null:
            return None
        if not isinstance(value, dict) or len(value) != 1:
            raise MalformedMessageError(
                f"{_shown(value)} is not an object of one field named after a branch of the union"
            )
        ((name, inner),) = value.items()
        if name not in branches:
            raise MalformedMessageError(f"the union has no branch {_shown(name)}; it has {', '.join(branches)}")
        return branches[name](inner)

    return read


def _plain_choice(plan: Choice) -> Read:
    branches = [json_reader(branch, tagged=False) for branch in plan.branches]

    def read(value: Any) -> Any:
        for branch in branches:
            try:
                return branch(value)
            except MalformedMessageError:
                continue
        raise MalformedMessageError(f"{_shown(value)} is of no branch of the union")

    return read


def _raw(writer: Scalar | Fixed | Enum) -> Read:
    if isinstance(writer, Fixed):
        return lambda value: _octets(value, writer.size)
    if isinstance(writer, Enum):
        return lambda value: _symbol(value, writer.symbols)
    return _RAW[writer.kind]


def _octets(value: Any, size: int | None = None) -> bytes:
    try:
        octets = value.encode("latin-1") if isinstance(value, str) else None
    except UnicodeEncodeError:
        octets = None
    if octets is None or size not in (None, len(octets)):
        what = "bytes" if size is None else f"{size} bytes"
        raise MalformedMessageError(
            f"{_shown(value)} is not a string of {what}, a character from U+0000 to U+00FF for each"
        )
    return octets


def _symbol(value: Any, symbols: tuple[str, ...]) -> str:
    if value not in symbols:
        raise MalformedMessageError(f"{_shown(value)} is none of the symbols")
    return str(value)


def _whole(low: int, high: int, what: str) -> Read:
    def read(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise MalformedMessageError(f"{_shown(value)} is not {what}")
        return value

    return read


def _float(value: Any) -> float:
    if isinstance(value, str) and value in _NOT_FINITE:
        return _NOT_FINITE[value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MalformedMessageError(f"{_shown(value)} is not a number")
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise MalformedMessageError(f"{_shown(value)} is not a boolean")
    return value


def _string(value: Any) -> bytes:
    if not isinstance(value, str):
        raise MalformedMessageError(f"{_shown(value)} is not a string")
    return _text(value).encode()


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise MalformedMessageError(f"{_shown(value)} has half of a surrogate pair") from None
    return value


_RAW: dict[str, Read] = {
    "null": _null,
    "boolean": _boolean,
    "int": _whole(INT_LOW, INT_HIGH, "an int"),
    "long": _whole(_INT64_LOW, _INT64_HIGH, "a long"),
    "float": _float,
    "double": _float,
    "bytes": _octets,
    "string": _string,
}


_READERS: dict[type, Callable[[Any, bool], Read]] = {
    Skip: lambda _, __: lambda ___: None,
    Null: lambda _, __: _null,
    Unreadable: _refuser,
    Value: _value,
    Items: _items,
    Pairs: _pairs,
    Choice: _choice,
    Rows: _rows,
}


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
