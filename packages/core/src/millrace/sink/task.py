"""A write task: which one it is, and what it has done."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class WriteTask:
    """Which of a write's tasks this is.

    Attributes:
        index: From 0.
        count: How many tasks there are; 0 when Spark does not tell.
        query: The id of the streaming query, or of the run of a batch write.
        batch: The number of the micro-batch; 0 for a batch write.
        is_streaming: Whether it writes a micro-batch of a streaming query.
    """

    index: int
    count: int
    query: str
    batch: int = 0
    is_streaming: bool = False


@dataclass(frozen=True)
class Written:
    """What a task has done.

    Attributes:
        rows: How many rows it wrote.
        records: How many records they became.
        bytes: How many bytes their keys and values have.
        is_skipped: Whether its rows were written already.
        is_new: Whether it looked at what was written before, as the first of its transactional id in its process does.
    """

    rows: int = 0
    records: int = 0
    bytes: int = 0
    is_skipped: bool = False
    is_new: bool = False
