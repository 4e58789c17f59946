"""The headers by which a message in a topic of dead letters tells where it was, and what is wrong with it.

They follow the message's own headers, as those of Kafka Connect's dead letters do (KIP-298), so that the message
comes back when they are taken away.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from millrace.contracts.dead_letters import DeadLetter

ERROR_HEADER_PREFIX = "millrace.error."
"""The beginning of the names of those headers that describe the error."""

Headers = Sequence[tuple[str, bytes | None]]


class Origin(NamedTuple):
    """The place that a dead letter had as a message, and what is wrong with it, as its headers tell.

    Attributes:
        topic: Its topic.
        partition: Its partition.
        offset: Its offset.
        timestamp: Its timestamp, in milliseconds since 1970; None when it has none.
        part: The part of it that is malformed, ``key`` or ``value``; None when the headers do not tell.
        format: The format that cannot read that part; None when the headers do not tell.
        reason: What is wrong, in words; None when the headers do not tell.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int | None
    part: str | None
    format: str | None
    reason: str | None


def dead_letter_headers(letter: DeadLetter) -> list[tuple[str, bytes | None]]:
    """Return a message's own headers, and those for where it was and what is wrong with it."""
    error = {name: getattr(letter, name) for name in Origin._fields}
    added = [(ERROR_HEADER_PREFIX + name, str(value).encode()) for name, value in error.items() if value is not None]
    return [*letter.headers, *added]


def split_dead_letter_headers(headers: Headers) -> tuple[list[tuple[str, bytes | None]], Origin | None]:
    """Divide the headers of a dead letter: the reverse of `dead_letter_headers`.

    Args:
        headers: All headers of a message, in order.

    Returns:
        The message's own headers; and its origin, None when the message is no dead letter.
    """
    fields: dict[str, str] = {}
    own = len(headers)
    # Ours begin with the topic. A letter of a letter has each of them twice, of which the first ones are its own
    while own and "topic" not in fields:
        name, value = headers[own - 1]
        field = name.removeprefix(ERROR_HEADER_PREFIX)
        if not name.startswith(ERROR_HEADER_PREFIX) or field not in Origin._fields or field in fields or value is None:
            break
        fields[field] = value.decode("utf-8", "replace")
        own -= 1
    origin = _origin(fields)
    return list(headers[: own if origin else len(headers)]), origin


def _origin(fields: dict[str, str]) -> Origin | None:
    try:
        place = fields["topic"], int(fields["partition"]), int(fields["offset"])
        timestamp = int(fields["timestamp"]) if "timestamp" in fields else None
    except (KeyError, ValueError):
        return None
    return Origin(*place, timestamp, fields.get("part"), fields.get("format"), fields.get("reason"))
