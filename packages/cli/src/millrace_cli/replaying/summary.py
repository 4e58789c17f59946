"""Count dead letters by what they have in common."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from confluent_kafka import Message

from millrace_cli.dead_letters import dead_letter_rows

FIELDS = ("error", "topic", "partition", "part", "format", "minute", "hour", "day")
"""The properties of dead letters that they can be counted by; times are those of the letters."""

_SHOWN_VALUE = 80
_VARIABLE = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\d+(?:\.\d+)?")
_TIMES = {"minute": "%Y-%m-%d %H:%M", "hour": "%Y-%m-%d %H:00", "day": "%Y-%m-%d"}


class Summary:
    """Numbers of dead letters.

    Args:
        fields: The properties to count by, of `FIELDS`.
        samples: How many letters to show of each count.
    """

    def __init__(self, fields: Sequence[str], samples: int) -> None:
        self._fields = fields
        self._samples = samples
        self._counts: dict[tuple[Any, ...], dict[str, Any]] = {}

    def add(self, messages: Sequence[Message]) -> None:
        """Count some messages."""
        for letter in dead_letter_rows(messages).to_pylist():
            key = tuple(_field(letter, name) for name in self._fields)
            group = self._counts.setdefault(key, {"count": 0, "first": None, "last": None, "samples": []})
            group["count"] += 1
            time = letter["dead_timestamp"]
            if time is not None:
                group["first"] = min(time, group["first"] or time)
                group["last"] = max(time, group["last"] or time)
            if len(group["samples"]) < self._samples:
                group["samples"].append(_sample(letter))

    def rows(self) -> list[dict[str, Any]]:
        """Return the counts, the largest first."""
        rows = [dict(zip(self._fields, key, strict=True)) | counts for key, counts in self._counts.items()]
        return sorted(rows, key=lambda row: (-row["count"], str(row)))

    def table(self) -> pa.Table:
        """Return the counts, the largest first, for people; times are in UTC."""
        names = ["count", *self._fields, "time (UTC)", "samples"]
        cells = [
            {**row, "time (UTC)": time_range(row["first"], row["last"]), "samples": "; ".join(row["samples"])}
            for row in self.rows()
        ]
        return pa.table({name: pa.array([_cell(row[name]) for row in cells], pa.string()) for name in names})


def time_range(first: dt.datetime | None, last: dt.datetime | None) -> str | None:
    """Return two times as a person writes them: what they have in common is there once."""
    if first is None or last is None:
        return None
    start, end = f"{first:%Y-%m-%d %H:%M:%S}", f"{last:%Y-%m-%d %H:%M:%S}"
    if start == end:
        return start
    is_one_day = first.date() == last.date()
    return f"{start} to {last:%H:%M:%S}" if is_one_day else f"{start} to {end}"


def error_kind(reason: str | None) -> str:
    """Return what reasons of the same kind have in common: all but numbers and quoted text."""
    return "no dead letter" if reason is None else _VARIABLE.sub("…", reason)


def _field(letter: dict[str, Any], name: str) -> Any:
    if name == "error":
        return error_kind(letter["reason"])
    if name in _TIMES:
        time: dt.datetime | None = letter["dead_timestamp"]
        return None if time is None else time.strftime(_TIMES[name])
    return letter[name]


def _sample(letter: dict[str, Any]) -> str:
    place = f"{letter['topic'] or 'unknown'}-{letter['partition']}@{letter['offset']}"
    payload = letter["key"] if letter["part"] == "key" else letter["value"]
    shown = "NULL" if payload is None else payload[:_SHOWN_VALUE] + ("…" if len(payload) > _SHOWN_VALUE else "")
    return f"{letter['dead_partition']}:{letter['dead_offset']} of {place}: {letter['reason'] or ''}: {shown}"


def _cell(value: Any) -> str | None:
    return None if value is None else str(value)
