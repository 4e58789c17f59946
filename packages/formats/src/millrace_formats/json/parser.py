"""Parse JSON as the reference's Jackson does, keeping numbers as text, and write it back."""

from __future__ import annotations

import json
from typing import Any

from millrace.errors import MalformedMessageError

_MAX_SHOWN = 80


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
    """Return the text of a JSON value for an error, cut when it is long."""
    text = json_text(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."


def json_text(value: Any) -> str:
    """Write a parsed value as compact JSON, numbers as they were."""
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
