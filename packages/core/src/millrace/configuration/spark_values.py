"""How Spark's own Kafka connector writes topics, partitions, offsets and times, read into millrace's writing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

Numbers = Mapping[tuple[str, int], int]
"""A number for each of some partitions, by topic and partition."""

_PARTITIONS = '{"orders": [0, 1], "audit": [2]}'
_OFFSETS = '{"orders": {"0": 23, "1": -2}, "audit": {"0": -1}}'
_TIMES = '{"orders": {"0": 1767323045678, "1": 1767323045678}}'

_EARLIEST, _LATEST = -2, -1
_LARGEST = 2**63 - 1
_INT = re.compile(r"[+-]?\d+", re.ASCII)
_TOPIC = re.compile(r"[\w.-]+", re.ASCII)


def topics(text: str) -> str:
    """The topics of a list such as ``orders,audit``, as ``orders;audit``.

    Raises:
        ValueError: There is none, or one cannot be a topic's name.
    """
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names or not all(map(_TOPIC.fullmatch, names)):
        raise ValueError("expected topic names separated by ',', such as 'orders,audit'")
    return ";".join(names)


def pattern(text: str) -> str:
    """A pattern without the spaces around it.

    Raises:
        ValueError: There is nothing else.
    """
    if not text.strip():
        raise ValueError("expected a regular expression, such as 'orders-.*'")
    return text.strip()


def partitions(text: str) -> str:
    """The partitions of ``{"orders": [0, 1], "audit": [2]}``, as ``orders:0,1;audit:2``.

    Raises:
        ValueError: It is not written like this, or there is none.
    """
    expected = f"expected partitions as JSON such as {_PARTITIONS}"
    chosen = {topic: _whole_numbers(listed, expected) for topic, listed in _object(text, expected).items()}
    parts = [f"{topic}:{','.join(map(str, dict.fromkeys(numbers)))}" for topic, numbers in chosen.items() if numbers]
    if not parts or min(number for numbers in chosen.values() for number in numbers) < 0:
        raise ValueError(expected)
    return ";".join(parts)


def offsets(text: str, words: Iterable[str]) -> Numbers:
    """The offsets of ``{"orders": {"0": 23, "1": -2}, "audit": {"0": -1}}``.

    Args:
        text: The JSON.
        words: What may be written instead of JSON, and as -2 and -1 in it: of earliest and latest.

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


def times(text: str) -> Numbers:
    """The times of ``{"orders": {"0": 1767323045678}}``, in milliseconds since 1970 UTC.

    Raises:
        ValueError: It is not written like this, there is none, or one is before 1970.
    """
    expected = f"expected milliseconds since 1970 UTC as JSON such as {_TIMES}"
    numbers = _of_partitions(text, expected)
    if min(numbers.values()) < 0:
        raise ValueError(f"{expected}, none below 0")
    return numbers


def time(text: str) -> int:
    """A time in milliseconds since 1970 UTC.

    Raises:
        ValueError: It is none.
    """
    expected = "expected milliseconds since 1970 UTC, such as '1767323045678'"
    (millis,) = _whole_numbers([text.strip()], expected)
    if millis < 0:
        raise ValueError(expected)
    return millis


def offsets_text(numbers: Numbers) -> str:
    """Offsets as the initializer ``specific-offsets`` takes them."""
    ends = {_EARLIEST: "earliest", _LATEST: "latest"}
    return _entries("offset", {at: ends.get(number, str(number)) for at, number in numbers.items()})


def times_text(numbers: Numbers) -> str:
    """Times as the initializer ``timestamp`` takes them for single partitions."""
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
        found = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{expected}; it is no JSON: {error}") from error
    if not isinstance(found, dict) or not all(map(_TOPIC.fullmatch, found)):
        raise ValueError(expected)
    return found


def _whole_numbers(values: object, expected: str) -> list[int]:
    # Numbers in quotes are numbers to Spark's connector, too
    texts = [str(value) for value in values] if isinstance(values, Iterable) and not isinstance(values, str) else ["?"]
    if not all(_INT.fullmatch(text) and len(text) <= 20 and abs(int(text)) <= _LARGEST for text in texts):
        raise ValueError(expected)
    return [int(text) for text in texts]
