"""Conditions on the metadata of records, by which a batch reads fewer offsets."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Protocol

from millrace.checkpoint import Offsets
from millrace.contracts import TopicPartition

Metadata = Literal["topic", "partition", "offset", "timestamp", "key"]


@dataclass(frozen=True)
class Between:
    """A partition, an offset or a timestamp within bounds.

    Attributes:
        metadata: What is bounded; timestamps are in ms since 1970 UTC.
        low: The least value; None without one.
        end: The value after the greatest one; None without one.
    """

    metadata: Metadata
    low: int | None = None
    end: int | None = None

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, int):
            return False
        return (self.low is None or value >= self.low) and (self.end is None or value < self.end)

    def __str__(self) -> str:
        low = [] if self.low is None else [f"{self.metadata} >= {self._shown(self.low)}"]
        end = [] if self.end is None else [f"{self.metadata} < {self._shown(self.end)}"]
        return " and ".join(low + end)

    def _shown(self, value: int) -> str:
        if self.metadata != "timestamp":
            return str(value)
        try:
            return datetime.fromtimestamp(value / 1000, UTC).isoformat(sep=" ", timespec="milliseconds")
        except (ValueError, OverflowError, OSError):
            return f"{value} ms"


@dataclass(frozen=True)
class OneOf:
    """A topic, a partition or a key that is among some, or among none of them.

    Attributes:
        metadata: What is compared.
        values: The names, numbers or bytes.
        is_negated: Whether it is none of them.
    """

    metadata: Metadata
    values: frozenset[str | int | bytes]
    is_negated: bool = False

    def __contains__(self, value: object) -> bool:
        return (value in self.values) != self.is_negated

    def __str__(self) -> str:
        listed = ", ".join(map(repr, sorted(self.values, key=repr)))
        return f"{self.metadata} {'not ' if self.is_negated else ''}in ({listed})"


Condition = Between | OneOf
"""A condition; a record that is read fulfils all of them."""


class LogTimes(Protocol):
    """The timestamps of logs, as far as brokers tell them."""

    def first_at(self, partitions: Collection[TopicPartition], millis: int) -> Mapping[TopicPartition, int]:
        """Return the offset of each partition's first record at or after a timestamp; without those that have none."""

    def end_before(self, stop: Offsets, millis: int) -> Mapping[TopicPartition, int]:
        """Return offsets from which on no record before ``stop`` is earlier than a timestamp, where that is known."""


class KeyPartitions(Protocol):
    """The partitions that keys are written to."""

    def of(self, topic: str, keys: Iterable[bytes]) -> Collection[int] | None:
        """Return the partitions of keys in a topic; None where they are not known."""


def narrow(
    start: Offsets, stop: Offsets, conditions: Iterable[Condition], times: LogTimes, keys: KeyPartitions
) -> tuple[dict[TopicPartition, int], dict[TopicPartition, int]]:
    """Return where a batch starts and stops in the partitions that may have records that fulfil all conditions.

    What is left out has no such records. What is left may have others: timestamps are seldom in order.

    Args:
        start: Where each partition starts without conditions.
        stop: Where each partition stops without conditions, not beyond the end of its log.
        conditions: The conditions.
        times: The timestamps of the logs.
        keys: The partitions of keys.
    """
    listed = tuple(conditions)
    partitions = [partition for partition in start if _may_have(partition, listed, keys)]
    low, end = _bounds(listed, "offset")
    first = {p: start[p] if low is None else max(start[p], low) for p in partitions}
    last = {p: stop[p] if end is None else min(stop[p], end) for p in partitions}
    low, end = _bounds(listed, "timestamp")
    if low is not None and low > 0:
        wanted = _with_records(first, last)
        # All records before the first one at or after a time are earlier, whatever their order
        earliest = times.first_at(wanted, low)
        first |= {p: max(first[p], earliest.get(p, last[p])) for p in wanted}
    if end is not None:
        wanted = _with_records(first, last)
        ends = times.end_before({p: last[p] for p in wanted}, end)
        last |= {p: min(last[p], at) for p, at in ends.items()}
    return first, {p: max(first[p], last[p]) for p in partitions}


def _may_have(partition: TopicPartition, conditions: tuple[Condition, ...], keys: KeyPartitions) -> bool:
    for condition in conditions:
        if condition.metadata == "topic" and partition.topic not in condition:
            return False
        if condition.metadata == "partition" and partition.partition not in condition:
            return False
        if condition.metadata == "key" and isinstance(condition, OneOf) and not condition.is_negated:
            known = keys.of(partition.topic, [key for key in condition.values if isinstance(key, bytes)])
            if known is not None and partition.partition not in known:
                return False
    return True


def _bounds(conditions: tuple[Condition, ...], metadata: Metadata) -> tuple[int | None, int | None]:
    """Return the least value that fulfils all conditions, and the one after the greatest; None without a bound."""
    bounds = [bound for bound in conditions if isinstance(bound, Between) and bound.metadata == metadata]
    low = max((bound.low for bound in bounds if bound.low is not None), default=None)
    end = min((bound.end for bound in bounds if bound.end is not None), default=None)
    return low, end


def _with_records(first: Offsets, last: Offsets) -> list[TopicPartition]:
    return [partition for partition, offset in first.items() if offset < last[partition]]
