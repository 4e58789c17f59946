"""How topics and partitions are written in options."""

from __future__ import annotations

import re
from collections.abc import Callable

from millrace.options.names import parse_names

INTERNAL = {"__consumer_offsets", "__transaction_state", "__share_group_state"}
"""Kafka's own topics."""


def parse_topics(text: str) -> tuple[str, ...]:
    """The topics of a list such as ``orders;audit``.

    Raises:
        ValueError: A name is empty or repeated.
    """
    return parse_names(text, "topic names", "topic")


def parse_topic(text: str) -> str:
    """The name of one topic.

    Raises:
        ValueError: It is empty, or a list.
    """
    name = text.strip()
    if not name or ";" in name:
        raise ValueError("expected the name of one topic")
    return name


def parse_pattern(text: str) -> str:
    """A regular expression, written as in Java, that whole names of topics match.

    Raises:
        ValueError: It is not one.
    """
    from millrace.options.java_pattern import java_pattern

    java_pattern(text)
    return text


def topic_matcher(pattern: str) -> Callable[[str], bool]:
    """Says of a topic's name whether all of it matches a pattern; Kafka's internal topics never do."""
    from millrace.options.java_pattern import java_pattern

    matches = java_pattern(pattern).fullmatch
    return lambda name: name not in INTERNAL and matches(name) is not None


def parse_partitions(text: str) -> tuple[tuple[str, int], ...]:
    """The topics and partitions of a set such as ``orders:0,1;audit:3``.

    Raises:
        ValueError: A part is malformed, or a partition is repeated.
    """
    chosen: list[tuple[str, int]] = []
    for part in text.split(";"):
        match = re.fullmatch(r"\s*([\w.-]+)\s*:\s*(\d+(?:\s*,\s*\d+)*)\s*", part, re.ASCII)
        if match is None:
            raise ValueError("expected partitions such as 'orders:0,1;audit:3'")
        chosen += [(match[1], int(number)) for number in match[2].split(",")]
    if len(set(chosen)) < len(chosen):
        raise ValueError("expected each partition once")
    return tuple(chosen)
