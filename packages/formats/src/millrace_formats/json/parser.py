"""Parse JSON as the reference's Jackson does, keeping numbers as text, and write it back."""

from __future__ import annotations

import json
from typing import Any

from millrace_formats.shared.malformed_message import MalformedMessageError

_SHOWN = 80


class Number(str):
    """The text of a JSON number."""

    __slots__ = ()


def parse(payload: bytes) -> Any:
    """Parse a message into dicts, lists, str, `Number`, bool and None.

    Raises:
        MalformedMessageError: It is not one JSON document.
    """
    try:
        return _PARSER.decode(payload.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise MalformedMessageError(f"not UTF-8: byte {payload[error.start]:#04x} at position {error.start}") from None
    except json.JSONDecodeError as error:
        raise MalformedMessageError(f"not JSON: {error.msg} at character {error.pos}") from None


def shown(value: Any) -> str:
    """A JSON value as an error shows it, cut when it is long."""
    text = json_text(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def json_text(value: Any) -> str:
    """The compact JSON text of a parsed value, numbers as they stood."""
    if isinstance(value, Number):
        return value
    if isinstance(value, dict):
        return "{" + ",".join(f"{_quoted(name)}:{json_text(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(json_text, value)) + "]"
    return _quoted(value)


_quoted = json.JSONEncoder(ensure_ascii=False).encode


def _no_constant(text: str) -> Any:
    raise MalformedMessageError(f"not JSON: {text} is not a JSON number")


_PARSER = json.JSONDecoder(parse_int=Number, parse_float=Number, parse_constant=_no_constant, strict=False)
