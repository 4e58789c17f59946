"""Partitions of topics, given in Python."""

from __future__ import annotations

from collections.abc import Iterable


def as_partition(given: object) -> tuple[str, int]:
    """Topic and number of a partition that is given as a `TopicPartition`, or as a pair of these.

    Raises:
        ValueError: It is neither.
    """
    match given:
        case (str() as topic, int() as number):
            return topic, number
    raise ValueError(f"expected partitions as (topic, number), such as ('orders', 0); got {given!r}")


def partitions_text(given: Iterable[object]) -> str:
    """Partitions as the option ``topic-partitions`` takes them: ``audit:3;orders:0,1``.

    Raises:
        ValueError: One of them is none.
    """
    numbers: dict[str, list[str]] = {}
    for topic, number in sorted(map(as_partition, given)):
        numbers.setdefault(topic, []).append(str(number))
    return ";".join(f"{topic}:{','.join(listed)}" for topic, listed in numbers.items())
