"""The micro-batch that a streaming query has planned but not done, from its checkpoint."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol


class Files(Protocol):
    """The files of a checkpoint."""

    def names(self, name: str = "") -> list[str]:
        """What is in a folder."""

    def read(self, name: str) -> str:
        """The text of a file."""


class Range(NamedTuple):
    """Offsets of a partition, from ``start`` up to, but not with, ``end``; a start of None is the log's beginning."""

    partition: int
    start: int | None
    end: int


def pending_ranges(files: Files, topic: str) -> list[Range]:
    """What is read of a topic by the micro-batch that is planned and not done; nothing if there is none.

    Args:
        files: The checkpoint.
        topic: The topic.
    """
    planned, done = _numbers(files.names("offsets")), _numbers(files.names("commits"))
    if not planned or max(planned) in done:
        return []
    number = max(planned)
    ends = _sources(files.read(f"offsets/{number}"))
    starts = _sources(files.read(f"offsets/{number - 1}")) if number - 1 in planned else {}
    found: dict[int, Range] = {}
    for place, end in ends.items():
        begin = {**_of(starts.get(place, {}), "topics", topic), **_of(end, "from", topic)}
        for partition, stop in _of(end, "topics", topic).items():
            piece = Range(partition, begin.get(partition), stop)
            found[partition] = _both(found.get(partition, piece), piece)
    return [each for _, each in sorted(found.items()) if each.start != each.end]


def _numbers(names: Iterable[str]) -> set[int]:
    return {int(name) for name in names if name.isdigit()}


def _sources(text: str) -> dict[int, Mapping[str, Any]]:
    """The offsets of millrace's sources in a file, by their lines."""
    found: dict[int, Mapping[str, Any]] = {}
    for place, line in enumerate(text.splitlines()):
        try:
            offset = json.loads(line)
        except ValueError:
            continue
        if isinstance(offset, dict) and isinstance(offset.get("topics"), dict):
            found[place] = offset
    return found


def _of(offset: Mapping[str, Any], part: str, topic: str) -> dict[int, int]:
    return {int(partition): place for partition, place in offset.get(part, {}).get(topic, {}).items()}


def _both(one: Range, other: Range) -> Range:
    start = None if one.start is None or other.start is None else min(one.start, other.start)
    return Range(one.partition, start, max(one.end, other.end))
