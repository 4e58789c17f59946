"""Text of messages on a terminal, which must not obey it."""

from __future__ import annotations

import json
from typing import Any


def printable(text: str) -> str:
    """Text with its control characters written as in Python's strings."""
    return text if text.isprintable() else "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def shown(value: Any) -> str:
    """A value as a person reads it: text as it is, bytes as text where they are, what is nested as JSON."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return printable(repr(value)[2:-1])
    if isinstance(value, dict | list | tuple):
        return printable(json.dumps(value, ensure_ascii=False, default=str))
    return printable(str(value))
