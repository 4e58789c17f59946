"""Lists that say something of single partitions: how they are written, and which partitions they speak of."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from millrace.contracts import TopicPartition
from millrace.errors import OptionsError

T = TypeVar("T")


def parse_list(text: str, key: str, value: str, example: str) -> list[tuple[str | None, int, str]]:
    """Topic (None for every topic), partition and value of each entry of a list.

    Args:
        text: The entries, separated by ``;``, each written as ``topic:<name>,partition:<number>,<key>:<value>`` where
            the topic may be left out.
        key: What the value is called.
        value: A regular expression for it.
        example: A list to show to who wrote a wrong one.

    Raises:
        ValueError: An entry is malformed, or a partition is named twice.
    """
    pattern = rf"\s*(?:topic:(?P<topic>[\w.-]+),)?partition:(?P<partition>\d+),{key}:(?P<value>{value})\s*"
    entries: dict[tuple[str | None, int], str] = {}
    for part in text.split(";"):
        match = re.fullmatch(pattern, part, re.ASCII)
        if match is None:
            raise ValueError(
                f"expected {example!r}, each with 'topic:<name>,' before it when several topics are read; {part!r} is "
                f"neither"
            )
        at = match["topic"], int(match["partition"])
        if at in entries:
            raise ValueError(f"expected each partition once, but {part.strip()!r} names one again")
        entries[at] = match["value"]
    return [(topic, partition, found) for (topic, partition), found in entries.items()]


def spread(
    entries: Sequence[tuple[str | None, int, T]], partitions: Collection[TopicPartition], what: str, *, all_named: bool
) -> dict[TopicPartition, T]:
    """What a list says of the partitions that are read; an entry with a topic wins over one without.

    Args:
        entries: The list.
        partitions: All partitions that are read.
        what: What the list holds, for messages.
        all_named: Whether the list must speak of all partitions that are read, and of no others.

    Raises:
        OptionsError: An entry means a partition of what is read that is not there, or one is missing that must not.
    """
    given = {(topic, partition): value for topic, partition, value in entries}
    there = _numbers(partitions)
    problems = [
        f"{what}: there is no {_named(topic, number)} in what is read: {_shown(partitions)}"
        for topic, number in given
        if not _is_there(topic, number, there, strictly=all_named)
    ]
    at_all: Mapping[int, T] = {partition: value for topic, partition, value in entries if topic is None}
    found = {
        at: given[at] if at in given else at_all[at.partition]
        for at in partitions
        if at in given or at.partition in at_all
    }
    missing = [at for at in partitions if at not in found]
    if missing and all_named:
        problems.append(f"{what}: every partition that is read must be named; missing: {_shown(missing)}")
    if problems:
        raise OptionsError("source", tuple(problems))
    return found


def _is_there(topic: str | None, number: int, there: Mapping[str | None, set[int]], *, strictly: bool) -> bool:
    of_topic = there.get(topic, set())
    # A list may speak of topics that are not read, and a pattern may match no topic yet
    return number in of_topic or not (of_topic or strictly)


def _numbers(partitions: Collection[TopicPartition]) -> dict[str | None, set[int]]:
    """The partitions of each topic, and, under None, of any."""
    there: dict[str | None, set[int]] = {None: set()}
    for topic, number in partitions:
        there.setdefault(topic, set()).add(number)
        there[None].add(number)
    return there


def _named(topic: str | None, number: int) -> str:
    return f"partition {number}" if topic is None else f"partition {number} of topic {topic!r}"


def _shown(partitions: Collection[TopicPartition]) -> str:
    listed = sorted(partitions)
    more = f" and {len(listed) - 10} more" if len(listed) > 10 else ""
    return ", ".join(map(str, listed[:10])) + more or "no partition"
