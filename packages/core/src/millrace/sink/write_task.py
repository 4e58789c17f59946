"""A write task: which one it is, and what it has done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class WriteTask:
    """Which of a write's tasks this is.

    Attributes:
        index: From 0.
        count: How many tasks there are; 0 when Spark does not tell.
        query: The id of the streaming query, or of the run of a batch write.
        batch: The number of the micro-batch; 0 for a batch write.
        is_streaming: Whether it writes a micro-batch of a streaming query.
        run: The run of the streaming query, another one after each start.
    """

    index: int
    count: int
    query: str
    batch: int = 0
    is_streaming: bool = False
    run: str = ""


@dataclass(frozen=True)
class Written:
    """What a task has done.

    Attributes:
        rows: How many rows it wrote.
        records: How many records they became.
        bytes: How many bytes their keys and values have; counted only for metrics.
        is_skipped: Whether its rows were written already.
        is_new: Whether it looked at what was written before, as the first of its transactional id in its process does.
        send_errors: How many deliveries were seen to fail that fail no task.
        send_ms: How long it waited for the brokers at its end; None when it did not.
        duration_ms: How long it took.
        producer: The name of its Kafka producer; empty without statistics.
        statistics: What that says of itself.
    """

    rows: int = 0
    records: int = 0
    bytes: int = 0
    is_skipped: bool = False
    is_new: bool = False
    send_errors: int = 0
    send_ms: int | None = field(default=None, compare=False)
    duration_ms: int = field(default=0, compare=False)
    producer: str = field(default="", compare=False)
    statistics: Mapping[str, int] = field(default_factory=dict, compare=False)
