"""Values as Flink CDC prints them, and values that can be compared whatever their types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from millrace_catalog.types import ArrayType, DataType, MapType, RowType
from millrace_cdc.rows import exact_json

_NUMBERS = frozenset(("TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL", "FLOAT", "DOUBLE"))
_MOMENT = re.compile(
    r"(?P<date>[+-]?\d+-\d\d-\d\d)[T ](?P<time>\d\d:\d\d)(?P<second>:\d\d)?(?:\.(?P<fraction>\d+))?"
    r"(?P<zone>Z|[+-]\d\d:\d\d)?"
)
_TIME = re.compile(r"(?P<time>\d\d:\d\d)(?P<second>:\d\d)?(?:\.(?P<fraction>\d+))?")


def split_list(text: str, *, quotes: str = '"', separator: str = ", ") -> list[str]:
    """Split a list at its separators, but for those between brackets or quotes."""
    return [part.strip() for part in _parts(text, quotes, separator)]


def _parts(text: str, quotes: str, separator: str) -> Iterator[str]:
    depth, quote, start, index = 0, "", 0, 0
    while index < len(text):
        character = text[index]
        if quote:
            quote = "" if character == quote else quote
        elif character in quotes:
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif depth == 0 and text.startswith(separator, index):
            yield text[start:index]
            start = index = index + len(separator)
            continue
        index += 1
    yield text[start:]


def golden_value(type_: DataType, text: str) -> Any:
    """Return a value that Flink CDC has printed as a value of JSON, as rows of a pipeline have it."""
    if text == "null":
        return None
    if isinstance(type_, ArrayType):
        return [golden_value(type_.element, each) for each in split_list(text[1:-1])] if text != "[]" else []
    if isinstance(type_, MapType):
        pairs = [each.split(" -> ", 1) for each in split_list(text[1:-1])] if text != "{}" else []
        return {key: golden_value(type_.value, value) for key, value in pairs}
    if isinstance(type_, RowType):
        fields = (each.split(" -> ", 1) for each in split_list(text[1:-1]))
        return {
            field.name: golden_value(field.type, value) for field, (_, value) in zip(type_.fields, fields, strict=True)
        }
    if type_.kind == "BOOLEAN":
        return {"true": True, "false": False}[text]
    if type_.kind == "VARIANT":
        return exact_json.decode(text)
    if type_.kind in _NUMBERS:
        return Decimal(text)
    return f"{text}Z" if type_.kind == "TIMESTAMP_LTZ" else text


def comparable(type_: DataType, value: Any) -> Any:
    """Return a value of JSON so that it equals another one of the same meaning.

    Numbers of all types compare by their value, points in time by what they are in UTC, and times without regard to
    zeros at the end of a fraction.
    """
    if value is None:
        return None
    if isinstance(type_, ArrayType):
        return [comparable(type_.element, each) for each in value]
    if isinstance(type_, MapType):
        return {
            comparable(type_.key, golden_value(type_.key, key)): comparable(type_.value, each)
            for key, each in value.items()
        }
    if isinstance(type_, RowType):
        return {field.name: comparable(field.type, value.get(field.name)) for field in type_.fields}
    if type_.kind in _NUMBERS:
        return Decimal(str(value))
    if type_.kind.startswith("TIMESTAMP"):
        return _moment(value)
    return _time(value) if type_.kind == "TIME" else value


def _moment(text: str) -> str:
    found = _MOMENT.fullmatch(text)
    if found is None:
        return text
    moment = datetime.fromisoformat(f"{found['date']} {found['time']}{found['second'] or ':00'}{found['zone'] or ''}")
    shown = (moment.astimezone(UTC) if moment.tzinfo else moment).replace(tzinfo=None)
    return f"{shown}{_fraction(found['fraction'])}"


def _time(text: str) -> str:
    found = _TIME.fullmatch(text)
    return f"{found['time']}{found['second'] or ':00'}{_fraction(found['fraction'])}" if found else text


def _fraction(digits: str | None) -> str:
    kept = (digits or "").rstrip("0")
    return f".{kept}" if kept else ""
