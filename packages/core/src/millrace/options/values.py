"""Parse the texts of option values: durations, addresses, topics, partitions, columns, secrets.

Every parser takes the text that the user gave and raises ValueError with what was expected; the option's name and the
text are added by `millrace.options.parser`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

KAFKA_INTERNAL_TOPICS = {"__consumer_offsets", "__transaction_state", "__share_group_state"}
"""Kafka's own topics, which a pattern never matches."""

_UNITS_MS = {
    **dict.fromkeys(("ms", "milli", "millis", "millisecond", "milliseconds"), 1),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1_000),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60_000),
    **dict.fromkeys(("h", "hour", "hours"), 3_600_000),
    **dict.fromkeys(("d", "day", "days"), 86_400_000),
}
_TIME = re.compile(
    r"\s*(?P<day>\d{4}-\d\d-\d\d)(?:[ T](?P<clock>\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?))?"
    r"\s*(?P<zone>Z|[+-]\d\d(?::?\d\d)?|UTC|[A-Z][\w+-]*/[\w/+-]+)?\s*",
    re.ASCII,
)
_DURATION = re.compile(r"\s*(-?\d+)\s*([a-zA-Z]*)\s*")
_TIMES = "'2026-11-27 16:00', '2026-11-27 16:00:05 Europe/Berlin' or '2026-11-27T15:00:05Z'"
_ADDRESS = re.compile(r"(\[[0-9a-fA-F:.%]+\]|[^\s:\[\]]+)(?::(\d{1,5}))?")
_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")
"""The names that Kafka allows for topics (``org.apache.kafka.common.internals.Topic``)."""

_PARTITIONS = re.compile(r"\s*([\w.-]+)\s*:\s*(\d+(?:\s*,\s*\d+)*)\s*", re.ASCII)


def parse_duration_ms(text: str) -> int:
    """Parse a duration such as ``5 min``, ``30s``, ``500 ms`` or ``-1`` into milliseconds.

    A bare number is taken as milliseconds, as Flink does (``TimeUtils.parseDuration``).

    Raises:
        ValueError: The text is not a duration.
    """
    match = _DURATION.fullmatch(text)
    unit = match[2].lower() if match else ""
    if match is None or (unit and unit not in _UNITS_MS):
        raise ValueError("expected a duration such as '5 min', '30 s' or '500 ms'")
    return int(match[1]) * (_UNITS_MS[unit] if unit else 1)


def parse_time_ms(text: str) -> int:
    """Parse a time such as ``2026-11-27 16:00`` or ``2026-11-27T16:00:05.5+01:00`` into milliseconds since 1970 UTC.

    A zone is an offset, ``Z``, or a name such as ``Europe/Berlin``. Without one, it is this machine's. A day alone
    begins at 00:00.

    Raises:
        ValueError: The text is no time, or is before 1970.
    """
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(f"expected a time such as {_TIMES}{_hint_at_millis(text)}")
    try:
        time = datetime.fromisoformat(f"{match['day']}T{match['clock'] or '00:00'}{_offset(match['zone'])}")
        if match["zone"] and "/" in match["zone"]:
            time = time.replace(tzinfo=ZoneInfo(match["zone"]))
        millis = int(time.timestamp() * 1000)
    except (ValueError, KeyError, OverflowError):
        # No such day, clock or zone
        raise ValueError(f"expected a time such as {_TIMES}") from None
    if millis < 0:
        raise ValueError("expected a time after 1970")
    return millis


def _offset(zone: str | None) -> str:
    if zone is None or "/" in zone:
        return ""
    return "Z" if zone == "UTC" else zone


def _hint_at_millis(text: str) -> str:
    return "; for milliseconds there is an option timestamp-millis" if text.strip().isdecimal() else ""


def parse_address(text: str) -> str:
    """Check an address written as ``host``, ``host:port`` or ``[::1]:port``; an empty text is allowed.

    Raises:
        ValueError: It is none of these.
    """
    if text:
        split_address(text)
    return text


def parse_port_address(text: str) -> str:
    """Parse an address that must have a port, into ``host:port``.

    Raises:
        ValueError: It is no address, or has no port.
    """
    host, port = split_address(text)
    if not port:
        raise ValueError("expected an address as host:port")
    return f"{host}:{port}"


def split_address(text: str) -> tuple[str, int]:
    """Split an address into host and port; port 0, for any free one, when it has none.

    Raises:
        ValueError: It is no address.
    """
    match = _ADDRESS.fullmatch(text)
    if match is None or int(match[2] or 0) > 65535:
        raise ValueError("expected an address as host or host:port")
    return match[1].strip("[]"), int(match[2] or 0)


def parse_names(text: str, expected: str, singular: str, separator: str = ";") -> tuple[str, ...]:
    """Parse a list of names such as ``orders;audit``.

    Args:
        text: The list.
        expected: What the list holds, for errors, such as "topic names".
        singular: One of them, for errors, such as "topic".
        separator: The text between two names.

    Raises:
        ValueError: A name is empty or repeated.
    """
    names = tuple(name.strip() for name in text.split(separator))
    if not all(names):
        raise ValueError(f"expected {expected} separated by '{separator}'")
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"expected each {singular} once, but {', '.join(repeated)} is repeated")
    return names


def parse_columns(text: str) -> tuple[str, ...]:
    """Parse a list of column names such as ``user_id;item_id``.

    Raises:
        ValueError: A name is empty or repeated.
    """
    return parse_names(text, "column names", "column")


def parse_topics(text: str) -> tuple[str, ...]:
    """Parse a list of topics such as ``orders;audit``.

    Raises:
        ValueError: A name is empty or repeated, or cannot be a topic's.
    """
    names = parse_names(text, "topic names", "topic")
    for name in names:
        _check_topic(name)
    return names


def is_topic_name(name: str) -> bool:
    """Return whether Kafka allows a topic of this name."""
    return name not in {".", ".."} and _TOPIC.fullmatch(name) is not None


def _check_topic(name: str) -> None:
    if "," in name:
        raise ValueError("expected topic names separated by ';', not by ','")
    if not is_topic_name(name):
        raise ValueError(
            f"{name!r} cannot be the name of a topic: Kafka allows up to 249 letters, digits, '.', '_' and '-'; for a "
            f"regular expression use 'topic-pattern'"
        )


def parse_topic(text: str) -> str:
    """Parse the name of one topic.

    Raises:
        ValueError: It is empty, or a list, or cannot be a topic's.
    """
    name = text.strip()
    if not name or ";" in name:
        raise ValueError("expected the name of one topic")
    _check_topic(name)
    return name


def parse_java_pattern(text: str) -> str:
    """Check a regular expression that is written as in Java.

    Raises:
        ValueError: It is not a regular expression.
    """
    from millrace.options.java_pattern import java_pattern

    java_pattern(text)
    return text


def topic_matcher(pattern: str) -> Callable[[str], bool]:
    """Return a predicate for names of topics that a pattern matches as a whole; Kafka's own topics never match."""
    from millrace.options.java_pattern import java_pattern

    matches = java_pattern(pattern).fullmatch
    return lambda name: name not in KAFKA_INTERNAL_TOPICS and matches(name) is not None


def parse_partitions(text: str) -> tuple[tuple[str, int], ...]:
    """Parse a set of topic partitions such as ``orders:0,1;audit:3``.

    Raises:
        ValueError: A part is malformed, or a partition is repeated.
    """
    partitions: list[tuple[str, int]] = []
    for part in text.split(";"):
        match = _PARTITIONS.fullmatch(part)
        if match is None:
            raise ValueError("expected partitions such as 'orders:0,1;audit:3'")
        partitions += [(match[1], int(number)) for number in match[2].split(",")]
    if len(set(partitions)) < len(partitions):
        raise ValueError("expected each partition once")
    return tuple(partitions)


def parse_share(text: str) -> float:
    """Parse a share such as ``0.05`` or ``5 %``, from 0 to 1.

    Raises:
        ValueError: It is none.
    """
    number = text.strip()
    try:
        share = float(number.removesuffix("%")) / (100 if number.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise ValueError("expected a share from 0 to 1, such as 0.05 or 5 %")
    return share


def parse_shared_secret(text: str) -> bytes:
    """Parse a secret that millrace has generated, written in hexadecimal digits.

    Raises:
        ValueError: It is none.
    """
    try:
        secret = bytes.fromhex(text)
    except ValueError:
        secret = b""
    if not secret:
        # Without a cause, whose message could show a part of it
        raise ValueError("expected hexadecimal digits, as in SinkMetricsCollector.options")
    return secret


def parse_connector(text: str) -> str:
    """Parse the name of a connector, as the WITH clause of a table gives it.

    Raises:
        ValueError: It is another connector than Kafka's.
    """
    if text.strip() not in {"kafka", "upsert-kafka"}:
        raise ValueError("expected kafka or upsert-kafka, the connectors of millrace")
    return text.strip()


def parse_folder(text: str) -> str:
    """Parse a folder: a URI, or a path, which is made absolute so that it is the same for other processes."""
    return text if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:", text) else str(Path(text).absolute())


def parse_bounded_mode(text: str) -> str | None:
    """Parse where reading stops; None for ``unbounded``, the reference's default."""
    return None if text == "unbounded" else text
