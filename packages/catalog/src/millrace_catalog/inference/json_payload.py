"""From a message's bytes to the JSON object that it holds."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from millrace.errors import MalformedMessageError

_BLANKS = b" \t\r\n"
_LONGEST_INTEGER = 40  # more digits than any type holds, and far fewer than int() takes long for
_SHOWN = 60

_decode = msgspec.json.Decoder().decode


def parse_object(payload: bytes | None) -> dict[str, Any] | None:
    """The object that a message is, with plain Python values; None when it is null, empty, blank or JSON's null.

    As json reads messages, control characters may stand in strings, a byte order mark in front, and the last of
    repeated fields counts. An integer with more digits than any type holds may come as another such.

    Raises:
        MalformedMessageError: It is no JSON, or no object.
    """
    if payload is None or not payload.strip(_BLANKS):
        return None
    try:
        tree = _parse(payload)
    except RecursionError:
        raise MalformedMessageError("nested too deeply") from None
    if tree is None or isinstance(tree, dict):
        return tree
    raise MalformedMessageError(f"expected a JSON object, found {shown(tree)}")


def object_field(message: dict[str, Any], field: str) -> dict[str, Any] | None:
    """The object in a field; None when it is null or missing.

    Raises:
        MalformedMessageError: It is something else.
    """
    value = message.get(field)
    if value is None or isinstance(value, dict):
        return value
    raise MalformedMessageError(f"field {field}: expected an object, found {shown(value)}")


def shown(value: Any) -> str:
    """A value as an error shows it, cut when it is long."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _parse(payload: bytes) -> Any:
    try:
        return _decode(payload)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _parse_leniently(payload)


def _parse_leniently(payload: bytes) -> Any:
    try:
        return _LENIENT.decode(payload.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise MalformedMessageError(f"not UTF-8: byte {payload[error.start]:#04x} at position {error.start}") from None
    except json.JSONDecodeError as error:
        raise MalformedMessageError(f"not JSON: {error.msg} at character {error.pos}") from None


def _to_integer(text: str) -> int:
    return int(text if len(text) <= _LONGEST_INTEGER else text[:_LONGEST_INTEGER])


def _refuse_constant(text: str) -> Any:
    raise MalformedMessageError(f"not JSON: {text} is not a JSON number")


def _to_object(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    for name, _ in fields:
        if not name.isascii() and any("\ud800" <= character <= "\udfff" for character in name):
            raise MalformedMessageError(f"the name of a field is not Unicode: {name!a}")
    return dict(fields)


_LENIENT = json.JSONDecoder(
    strict=False, parse_int=_to_integer, parse_constant=_refuse_constant, object_pairs_hook=_to_object
)
