"""Parse the values of options of Kafka's source and sink."""

from __future__ import annotations

import re

from millrace.options.values import parse_names
from millrace_cdc.routing.patterns import RoutePattern

METADATA_KEYS = ("topic", "partition", "offset", "timestamp", "timestamp-type", "headers", "leader-epoch")
"""The metadata of messages that can be columns."""

_OFFSETS = r"(?:topic:[^,;]+,)?partition:\d+,offset:(?:\d+|earliest|latest)"


def parse_metadata_list(text: str) -> tuple[str, ...]:
    """Parse a list of metadata such as ``topic, offset``.

    Raises:
        ValueError: A name is unknown, empty or repeated.
    """
    names = parse_names(text, "metadata", "of them", separator=",")
    unknown = [name for name in names if name not in METADATA_KEYS]
    if unknown:
        raise ValueError(f"expected names out of {', '.join(METADATA_KEYS)}, but there is {', '.join(unknown)}")
    return names


def parse_specific_offsets(text: str) -> str:
    """Check a list of offsets such as ``partition:0,offset:42;partition:1,offset:300``.

    Raises:
        ValueError: It is none.
    """
    compact = re.sub(r"\s+", "", text)
    if not re.fullmatch(f"{_OFFSETS}(?:;{_OFFSETS})*;?", compact):
        raise ValueError("expected offsets such as partition:0,offset:42;partition:1,offset:300")
    return compact.rstrip(";")


def parse_topic_mapping(text: str) -> tuple[tuple[str, str], ...]:
    """Parse a mapping such as ``db.t1,db.t2:topic1;db.t3:topic2`` into patterns of tables and their topics.

    Raises:
        ValueError: A part is no pattern and topic.
    """
    pairs = [part.strip().rpartition(":") for part in text.split(";") if part.strip()]
    if not pairs or not all(pattern.strip() and topic.strip() for pattern, _, topic in pairs):
        raise ValueError("expected tables and their topics, such as mydb.mytable1:topic1;mydb.mytable2:topic2")
    for pattern, _, _ in pairs:
        RoutePattern(pattern)
    return tuple((pattern.strip(), topic.strip()) for pattern, _, topic in pairs)


def parse_servers(text: str) -> str:
    """Check a list of brokers such as ``host:9092,host:9093``.

    Raises:
        ValueError: It is none.
    """
    servers = [server.strip() for server in text.split(",")]
    if not all(re.fullmatch(r"(?:\w+://)?(?:\[[0-9a-fA-F:.%]+\]|[^\s:\[\]]+):\d{1,5}", server) for server in servers):
        raise ValueError("expected the addresses of brokers as host:port,host:port")
    return ",".join(servers)
