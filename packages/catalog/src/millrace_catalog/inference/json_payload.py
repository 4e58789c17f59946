"""Parse message bytes into JSON objects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

from millrace.errors import MalformedMessageError
from millrace.wording import not_an_object

_BLANKS = b" \t\r\n"
_MAX_INTEGER_DIGITS = 40  # more digits than any type holds, and far fewer than int() takes long for
_MAX_SHOWN = 60

_decode = msgspec.json.Decoder(float_hook=Decimal).decode


def parse_object(payload: bytes | None) -> dict[str, Any] | None:
    """Parse a message that is a JSON object; None when it is null, empty, blank or JSON's null.

    As in format json, strings may contain control characters, a byte order mark may come first, and the last of
    repeated fields counts. A number with a fraction or an exponent is a Decimal with all of its digits. An integer with
    more digits than any type holds may become another such integer.

    Raises:
        MalformedMessageError: It is not JSON, or not an object.
    """
    if payload is None or not payload.strip(_BLANKS):
        return None
    try:
        tree = _parse(payload)
    except RecursionError:
        raise MalformedMessageError("nested too deeply") from None
    if tree is None or isinstance(tree, dict):
        return tree
    raise MalformedMessageError(not_an_object(tree, describe(tree)))


def object_field(message: Mapping[str, Any], field: str) -> dict[str, Any] | None:
    """Return the object in a field; None when it is null or missing.

    Raises:
        MalformedMessageError: The field holds something else.
    """
    value = message.get(field)
    if value is None or isinstance(value, dict):
        return value
    raise MalformedMessageError(f"field {field}: expected an object, found {describe(value)}")


def describe(value: Any) -> str:
    """Describe a value for an error; a long one is cut."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    text = str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


def _parse(payload: bytes) -> Any:
    try:
        return _decode(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError, InvalidOperation):
        return _parse_leniently(payload)


def _parse_leniently(payload: bytes) -> Any:
    try:
        return _LENIENT.decode(payload.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise MalformedMessageError(f"not UTF-8: byte {payload[error.start]:#04x} at position {error.start}") from None
    except json.JSONDecodeError as error:
        raise MalformedMessageError(f"not JSON: {error.msg} at character {error.pos}") from None


def _to_integer(text: str) -> int:
    return int(text if len(text) <= _MAX_INTEGER_DIGITS else text[:_MAX_INTEGER_DIGITS])


def _to_decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise MalformedMessageError(f"{text[:_MAX_SHOWN]} is a number with too large an exponent") from None


def _refuse_constant(text: str) -> Any:
    raise MalformedMessageError(f"not JSON: {text} is not a JSON number")


def _to_object(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    for name, _ in fields:
        if not name.isascii() and any("\ud800" <= character <= "\udfff" for character in name):
            raise MalformedMessageError(f"the name of a field is not Unicode: {name!a}")
    return dict(fields)


_LENIENT = json.JSONDecoder(
    strict=False,
    parse_int=_to_integer,
    parse_float=_to_decimal,
    parse_constant=_refuse_constant,
    object_pairs_hook=_to_object,
)
