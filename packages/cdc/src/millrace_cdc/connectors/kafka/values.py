"""Parse the values of options of Kafka's source and sink."""

from __future__ import annotations

import re
from dataclasses import dataclass

from millrace.options.values import parse_names
from millrace_catalog.types import Schema, parse_schema
from millrace_cdc.definitions.rules import parse_column_names
from millrace_cdc.routing.patterns import RoutePattern
from millrace_cdc.table_id import TableId

METADATA_KEYS = ("topic", "partition", "offset", "timestamp", "timestamp-type", "headers", "leader-epoch")
"""The metadata of messages that can be columns."""

_OFFSETS = r"(?:topic:[^,;]+,)?partition:\d+,offset:(?:\d+|earliest|latest)"
_STATEMENT = re.compile(
    r"\s*CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(?P<table>[^\s(]+)\s*\((?P<columns>.*)\)\s*",
    re.IGNORECASE | re.DOTALL,
)
_PRIMARY_KEY = re.compile(
    r",\s*PRIMARY\s+KEY\s*\((?P<columns>[^()]*)\)\s*NOT\s+ENFORCED\s*$", re.IGNORECASE | re.DOTALL
)
_PIECE = re.compile(r"`(?:[^`]|``)*`|'(?:[^']|'')*'|;|[^`';]+|.", re.DOTALL)


@dataclass(frozen=True)
class InitialSchema:
    """The schema that a table has before its first message.

    Attributes:
        table: The table's id.
        schema: Its columns.
        primary_key: The names of the columns of its primary key; empty when it has none.
    """

    table: TableId
    schema: Schema
    primary_key: tuple[str, ...] = ()


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


def parse_initial_schemas(text: str) -> tuple[InitialSchema, ...]:
    """Parse statements such as ``CREATE TABLE db1.t1 (id BIGINT, name VARCHAR(10));``.

    Raises:
        ValueError: One is no such statement, or a table is repeated.
    """
    statements = [""]
    for piece in _PIECE.findall(text):
        if piece == ";":
            statements.append("")
        else:
            statements[-1] += piece
    schemas = tuple(_parse_statement(each) for each in statements if each.strip())
    if len({each.table for each in schemas}) < len(schemas):
        raise ValueError("expected one statement for each table")
    return schemas


def _parse_statement(text: str) -> InitialSchema:
    match = _STATEMENT.fullmatch(text)
    if match is None:
        raise ValueError("expected CREATE TABLE db.name (column TYPE, ...), separated by ';'")
    key = _PRIMARY_KEY.search(match["columns"])
    columns = match["columns"][: key.start()] if key else match["columns"]
    table = TableId.parse(match["table"].replace("`", ""))
    try:
        schema = parse_schema(columns)
    except ValueError as error:
        raise ValueError(f"columns of {table}: {error}") from error
    primary_key = parse_column_names(key["columns"]) if key else ()
    missing = [name for name in primary_key if name not in {column.name for column in schema.columns}]
    if missing:
        raise ValueError(f"the primary key of {table} names {', '.join(missing)}, which is none of its columns")
    return InitialSchema(table, schema, primary_key)


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
