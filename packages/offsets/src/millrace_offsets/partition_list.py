"""Parse lists of values for single partitions, and match them to the partitions that are read."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from millrace.contracts import TopicPartition
from millrace.errors import OptionsError

T = TypeVar("T")


def parse_list(text: str, key: str, value: str, example: str) -> list[tuple[str | None, int, str]]:
    """Parse a list into topic (None for every topic), partition and value of each entry.

    Args:
        text: The entries, separated by ``;``, each written as ``topic:<name>,partition:<number>,<key>:<value>`` where
            the topic may be left out.
        key: The name of the value.
        value: A regular expression for it.
        example: A correct list, for messages.

    Raises:
        ValueError: An entry is malformed, or a partition is named twice.
    """
    pattern = rf"\s*(?:topic:(?P<topic>[\w.-]+),)?partition:(?P<partition>\d+),{key}:(?P<value>{value})\s*"
    entries: dict[tuple[str | None, int], str] = {}
    for part in text.split(";"):
        match = re.fullmatch(pattern, part, re.ASCII)
        if match is None:
            wrong = "" if part == text else f"; {part.strip()!r} is not such an entry"
            raise ValueError(
                f"expected {example!r}, each with 'topic:<name>,' before it when several topics are read{wrong}"
            )
        partition = match["topic"], int(match["partition"])
        if partition in entries:
            raise ValueError(f"expected each partition once, but {part.strip()!r} names one again")
        entries[partition] = match["value"]
    return [(topic, partition, text) for (topic, partition), text in entries.items()]


def values_by_partition(
    entries: Sequence[tuple[str | None, int, T]], partitions: Collection[TopicPartition], what: str, *, all_named: bool
) -> dict[TopicPartition, T]:
    """Match a list to the partitions that are read; an entry with a topic wins over one without.

    Args:
        entries: The list.
        partitions: All partitions that are read.
        what: The contents of the list, for messages.
        all_named: The list must name all partitions that are read, and no others.

    Raises:
        OptionsError: An entry names a partition that does not exist, or one is missing from a list that must name all.
    """
    by_partition = {(topic, partition): value for topic, partition, value in entries}
    numbers = _numbers_by_topic(partitions)
    problems = [
        f"{what}: {_named(topic, number)} is not among the partitions that are read: {_shown(partitions)}"
        for topic, number in by_partition
        if not _may_name(topic, number, numbers, strictly=all_named)
    ]
    for_all_topics: Mapping[int, T] = {partition: value for topic, partition, value in entries if topic is None}
    values = {
        partition: by_partition[partition] if partition in by_partition else for_all_topics[partition.partition]
        for partition in partitions
        if partition in by_partition or partition.partition in for_all_topics
    }
    missing = [partition for partition in partitions if partition not in values]
    if missing and all_named:
        problems.append(f"{what}: every partition that is read must be named; missing: {_shown(missing)}")
    if problems:
        raise OptionsError("source", tuple(problems))
    return values


def _may_name(topic: str | None, number: int, numbers: Mapping[str | None, set[int]], *, strictly: bool) -> bool:
    of_topic = numbers.get(topic, set())
    # A list may name topics that are not read, and a pattern may match no topic yet
    return number in of_topic or not (of_topic or strictly)


def _numbers_by_topic(partitions: Collection[TopicPartition]) -> dict[str | None, set[int]]:
    """Return the partitions of each topic and, under None, of all topics."""
    numbers: dict[str | None, set[int]] = {None: set()}
    for topic, number in partitions:
        numbers.setdefault(topic, set()).add(number)
        numbers[None].add(number)
    return numbers


def _named(topic: str | None, number: int) -> str:
    return f"partition {number}" if topic is None else f"partition {number} of topic {topic!r}"


def _shown(partitions: Collection[TopicPartition]) -> str:
    listed = sorted(partitions)
    more = f" and {len(listed) - 10} more" if len(listed) > 10 else ""
    return ", ".join(map(str, listed[:10])) + more or "no partition"
