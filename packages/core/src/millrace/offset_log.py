"""Spark's logs of micro-batches in a query's checkpoint, of those that were planned and those that are complete.

Spark writes the offsets of micro-batch N to ``offsets/N`` before it (``OffsetSeqLog``), and ``commits/N`` after it
(``CommitLog``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from millrace.checkpoint import StreamOffset, parse_reported_offset
from millrace.errors import MillraceError

INCOMPLETE = "v0 incomplete copy"
"""The first line of a file that keeps Spark from starting with a checkpoint that is still being copied."""

NO_OFFSET = "-"
"""The text for a source that has no offset yet."""


@dataclass(frozen=True)
class OffsetLogEntry:
    """A file of the offset log.

    Version 1 has a line of JSON for each source, version 2 (``spark.sql.streaming.offsetLog.formatVersion``) puts the
    source's name or number and a colon before it.

    Attributes:
        version: The version of the file, ``v1`` or ``v2``.
        metadata: Watermark, planning time and settings, as JSON.
        sources: The offset of each source as text, by its name or by the number of its line; `NO_OFFSET` of one that
            has none yet.
    """

    version: str
    metadata: str
    sources: Mapping[str, str]

    @classmethod
    def parse(cls, text: str) -> OffsetLogEntry:
        """Parse a file.

        Raises:
            MillraceError: It has another version.
        """
        version, *lines = text.removesuffix("\n").split("\n")
        if version == INCOMPLETE:
            raise MillraceError(
                "the checkpoint is a copy that is incomplete, because it is still under way or was interrupted. Wait "
                "for its end, or delete its folder and make it again"
            )
        if version not in ("v1", "v2"):
            raise MillraceError(
                f"the checkpoint's offset log has version {version[:20]!r}, this millrace reads 'v1' and 'v2'. Use a "
                f"millrace that supports the Spark that wrote it"
            )
        metadata, *offsets = lines or [""]
        if version == "v1":
            return cls(version, metadata, {str(number): offset for number, offset in enumerate(offsets)})
        named = (line.partition(":") for line in offsets)
        return cls(version, metadata, {name: offset for name, _, offset in named})

    def to_text(self) -> str:
        """Return the file's text, as Spark writes it."""
        lines = [offset if self.version == "v1" else f"{name}:{offset}" for name, offset in self.sources.items()]
        return "\n".join([self.version, self.metadata, *lines])

    def stream_offsets(self) -> dict[str, StreamOffset]:
        """Return the offsets of millrace's sources, by source.

        Raises:
            MillraceError: A newer millrace wrote one of them.
        """
        parsed = {source: parse_reported_offset(offset) for source, offset in self.sources.items()}
        return {source: reported.offset for source, reported in parsed.items() if reported is not None}

    def planning_time(self) -> float | None:
        """Return when Spark planned the micro-batch; one that is repeated keeps its file.

        Returns:
            Seconds since 1970, by the driver's clock; None where Spark does not say.
        """
        millis = self._number("batchTimestampMs")
        return None if millis is None else millis / 1000

    def watermark_ms(self) -> int | None:
        """Return the watermark with which the micro-batch began, in ms since 1970; None where Spark does not say."""
        millis = self._number("batchWatermarkMs")
        return None if millis is None else int(millis)

    def _number(self, name: str) -> float | None:
        try:
            metadata: Any = json.loads(self.metadata)
            return float(metadata[name])
        except (KeyError, TypeError, ValueError):
            return None


class RestartPoint(NamedTuple):
    """The micro-batches between which a query goes on, by the names of their files in the offset log.

    Attributes:
        done: The last micro-batch that is complete; None before the first one.
        repeated: The one that was begun and is repeated; None where a new one begins.
    """

    done: int | None
    repeated: int | None


class CheckpointFiles(Protocol):
    """Files of a query's checkpoint."""

    def names(self, name: str, /) -> list[str]:
        """List the names in a folder."""

    def read(self, name: str, /) -> str:
        """Read a text file."""


def find_restart_point(offsets: Iterable[str], commits: Iterable[str]) -> RestartPoint | None:
    """Return where a query goes on; None where it has begun no micro-batch.

    With asynchronous progress tracking the logs leave most micro-batches out: the one that is repeated then has the
    records of all since the last one before it that the offset log has.

    Args:
        offsets: The names of the files of Spark's offset log, which has the micro-batches that were begun.
        commits: Those of its commit log, which has the complete ones.
    """
    begun, done = _batch_numbers(offsets), _batch_numbers(commits)
    if not begun:
        return None
    last = max(begun)
    if last in done:
        return RestartPoint(last, None)
    return RestartPoint(max(begun - {last}, default=None), last)


def _batch_numbers(names: Iterable[str]) -> set[int]:
    return {int(name) for name in names if name.isdigit()}
