"""The offsets of a query's sources in its checkpoint: those of millrace, and those of Spark's own Kafka connector."""

from __future__ import annotations

import json

from millrace.checkpoint import Offsets, StreamOffset, flatten_by_topic, parse_reported_offset
from millrace.offset_log import NO_OFFSET

LoggedOffset = StreamOffset | Offsets | None
"""An offset of millrace, the positions of Spark's own Kafka connector, or None for another source's."""


def parse_logged_offset(text: str) -> LoggedOffset:
    """Parse the offset of a source in Spark's offset log.

    Raises:
        MillraceError: A newer millrace wrote it.
    """
    positions = parse_kafka_offset(text)
    if positions is not None:
        return positions
    reported = parse_reported_offset(text)
    return None if reported is None else reported.offset


def parse_kafka_offset(text: str) -> Offsets | None:
    """Parse an offset of Spark's own Kafka connector, such as ``{"orders":{"0":42}}``; None for another source's."""
    try:
        stored = json.loads(text)
    except ValueError:
        return None
    if not isinstance(stored, dict) or not stored:
        return None
    for partitions in stored.values():
        if not isinstance(partitions, dict) or not all(map(str.isdecimal, partitions)):
            return None
        if not all(type(offset) is int for offset in partitions.values()):
            return None
    return flatten_by_topic(stored)


def parse_initial_offset(text: str) -> Offsets | None:
    """Parse the file ``sources/<source>/0``, where Spark's own Kafka connector keeps where a query began.

    Its first byte is 0, its first line the version; see ``KafkaSourceInitialOffsetWriter``.
    """
    version, _, offset = text.lstrip("\0").partition("\n")
    return parse_kafka_offset(offset.strip()) if version.strip() == "v1" else None


def describe_kind(text: str) -> str:
    """Return what kind of source an offset is of."""
    if text == NO_OFFSET:
        return "no offset yet"
    offset = parse_logged_offset(text)
    if offset is None:
        return "another source"
    return "millrace" if isinstance(offset, StreamOffset) else "Spark's Kafka connector"


def positions_of(offset: LoggedOffset) -> Offsets:
    """Return the positions of an offset; none of another source's."""
    if offset is None:
        return {}
    return offset.positions if isinstance(offset, StreamOffset) else offset
