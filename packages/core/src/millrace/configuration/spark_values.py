"""Parse the option values of Spark's own Kafka connector: topics, partitions, offsets and timestamps."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

Numbers = Mapping[tuple[str, int], int]
"""An offset or timestamp by topic and partition."""

_PARTITIONS = '{"orders": [0, 1], "audit": [2]}'
_OFFSETS = '{"orders": {"0": 23, "1": -2}, "audit": {"0": -1}}'
_TIMES = '{"orders": {"0": 1767323045678, "1": 1767323045678}}'

_EARLIEST, _LATEST = -2, -1
_LARGEST = 2**63 - 1
_INT = re.compile(r"[+-]?\d+", re.ASCII)
_TOPIC = re.compile(r"[\w.-]+", re.ASCII)


def translate_topics(text: str) -> str:
    """Translate a list of topics such as ``orders,audit`` into ``orders;audit``.

    Raises:
        ValueError: There is none, or one cannot be a topic's name.
    """
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names or not all(map(_TOPIC.fullmatch, names)):
        raise ValueError("expected topic names separated by ',', such as 'orders,audit'")
    return ";".join(names)


def strip_pattern(text: str) -> str:
    """Strip the spaces around a pattern.

    Raises:
        ValueError: Nothing is left.
    """
    if not text.strip():
        raise ValueError("expected a regular expression, such as 'orders-.*'")
    return text.strip()


def translate_partitions(text: str) -> str:
    """Translate partitions such as ``{"orders": [0, 1], "audit": [2]}`` into ``orders:0,1;audit:2``.

    Raises:
        ValueError: It is not written like this, or there is none.
    """
    expected = f"expected partitions as JSON such as {_PARTITIONS}"
    chosen = {topic: _whole_numbers(listed, expected) for topic, listed in _object(text, expected).items()}
    parts = [f"{topic}:{','.join(map(str, dict.fromkeys(numbers)))}" for topic, numbers in chosen.items() if numbers]
    if not parts or min(number for numbers in chosen.values() for number in numbers) < 0:
        raise ValueError(expected)
    return ";".join(parts)


def parse_offsets(text: str, words: Iterable[str]) -> Numbers:
    """Parse offsets such as ``{"orders": {"0": 23, "1": -2}, "audit": {"0": -1}}``.

    Args:
        text: The JSON.
        words: Those of earliest and latest that are allowed, instead of the JSON, and as -2 and -1 in it.

    Raises:
        ValueError: It is not written like this, or there is none.
    """
    allowed = {"earliest": _EARLIEST, "latest": _LATEST}
    example = _OFFSETS if "earliest" in words else _OFFSETS.replace("-2", "-1")
    expected = f"expected {' or '.join(words)}, or offsets as JSON such as {example}"
    numbers = _of_partitions(text, expected)
    wrong = [number for number in numbers.values() if number < 0 and number not in {allowed[word] for word in words}]
    if wrong:
        listed = " or ".join(f"{allowed[word]} for {word}" for word in words)
        raise ValueError(f"expected offsets from 0, or {listed}, but there is {wrong[0]}")
    return numbers


def parse_timestamps(text: str) -> Numbers:
    """Parse timestamps such as ``{"orders": {"0": 1767323045678}}``, in milliseconds since 1970 UTC.

    Raises:
        ValueError: It is not written like this, there is none, or one is before 1970.
    """
    expected = f"expected milliseconds since 1970 UTC as JSON such as {_TIMES}"
    numbers = _of_partitions(text, expected)
    if min(numbers.values()) < 0:
        raise ValueError(f"{expected}, none below 0")
    return numbers


def parse_timestamp(text: str) -> int:
    """Parse one timestamp in milliseconds since 1970 UTC.

    Raises:
        ValueError: It is none.
    """
    expected = "expected milliseconds since 1970 UTC, such as '1767323045678'"
    (millis,) = _whole_numbers([text.strip()], expected)
    if millis < 0:
        raise ValueError(expected)
    return millis


def format_offsets(numbers: Numbers) -> str:
    """Format offsets for the option of the initializer ``specific-offsets``."""
    ends = {_EARLIEST: "earliest", _LATEST: "latest"}
    return _entries("offset", {at: ends.get(number, str(number)) for at, number in numbers.items()})


def format_timestamps(numbers: Numbers) -> str:
    """Format timestamps for the option ``partition-timestamps`` of the initializer ``timestamp``."""
    return _entries("timestamp", numbers)


def _entries(key: str, values: Mapping[tuple[str, int], object]) -> str:
    return ";".join(f"topic:{topic},partition:{number},{key}:{value}" for (topic, number), value in values.items())


def _of_partitions(text: str, expected: str) -> dict[tuple[str, int], int]:
    numbers: dict[tuple[str, int], int] = {}
    for topic, listed in _object(text, expected).items():
        if not isinstance(listed, dict):
            raise ValueError(expected)  # noqa: TRY004 - what the user wrote is wrong, not what a caller gave
        values = _whole_numbers(listed.values(), expected)
        numbers |= zip(((topic, at) for at in _whole_numbers(listed, expected)), values, strict=True)
    if not numbers or min(at for _, at in numbers) < 0:
        raise ValueError(expected)
    return numbers


def _object(text: str, expected: str) -> dict[str, Any]:
    try:
        parsed = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{expected}; it is not valid JSON: {error}") from error
    if not isinstance(parsed, dict) or not all(map(_TOPIC.fullmatch, parsed)):
        raise ValueError(expected)
    return parsed


def _whole_numbers(values: object, expected: str) -> list[int]:
    # Numbers in quotes are numbers to Spark's connector, too
    texts = [str(value) for value in values] if isinstance(values, Iterable) and not isinstance(values, str) else ["?"]
    if not all(_INT.fullmatch(text) and len(text) <= 20 and abs(int(text)) <= _LARGEST for text in texts):
        raise ValueError(expected)
    return [int(text) for text in texts]
