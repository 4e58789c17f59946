"""The options that source and sink share: topics, formats, and the columns of keys, values and metadata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from millrace.options.column_list import DeclaredColumn, parse_column_list
from millrace.options.field import option
from millrace.options.metadata import SelectedMetadata, parse_metadata_columns
from millrace.options.values import parse_columns, parse_connector, parse_java_pattern, parse_topics


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """The options that source and sink share."""

    connector: str = option(
        "connector",
        default="kafka",
        parse=parse_connector,
        doc="kafka, or upsert-kafka for a topic with a primary key: the columns of key.fields identify a row, each "
        "message holds the latest version of its row, and a message without a value deletes the row. The same as in "
        "the WITH clause of a SQL table.",
    )
    topics: tuple[str, ...] = option(
        "topic",
        default=(),
        parse=parse_topics,
        doc="The topic, or several topics separated by ';'. If there are several, a sink writes each row to the topic "
        "in the metadata column topic or, without a format, in the column topic.",
    )
    topic_pattern: str | None = option(
        "topic-pattern",
        default=None,
        parse=parse_java_pattern,
        doc="A Java regular expression that must match the whole name of a topic: the topics to read, or those that "
        "the rows of a sink may name. It never matches Kafka's internal topics.",
    )
    value_format: str | None = option(
        "value.format",
        default=None,
        aliases=("format",),
        wins=True,
        doc="The format of values. If both names are set, value.format takes precedence. Without a format, rows have "
        "the columns of Spark's own Kafka connector.",
    )
    key_format: str | None = option(
        "key.format",
        default=None,
        doc="The format of keys, in addition to one of values. Its options start with key.<format>., and those of the "
        "value's format with value.<format>. or <format>. only. Without it, keys are available only as metadata.",
    )
    key_fields: tuple[str, ...] = option(
        "key.fields",
        default=(),
        parse=parse_columns,
        doc="The columns of the key, separated by ';', in the order of the key's format.",
    )
    key_prefix: str = option(
        "key.fields-prefix",
        default="",
        doc="A prefix of the key's columns in rows and in key.fields, but not in the key itself. Use it if values "
        "have fields of the same names. Requires value.fields-include = EXCEPT_KEY.",
    )
    value_prefix: str = option(
        "value.fields-prefix",
        default="",
        doc="A prefix of all value columns in rows, but not in the value itself. With key.format, it requires "
        "value.fields-include = EXCEPT_KEY.",
    )
    value_include: Literal["ALL", "EXCEPT_KEY"] = option(
        "value.fields-include",
        default="ALL",
        doc="Whether the value contains the columns of the key: ALL, in which case they are also read from it, or "
        "EXCEPT_KEY.",
    )
    metadata: tuple[SelectedMetadata, ...] = option(
        "metadata.columns",
        default=(),
        aliases=("metadata.list",),
        parse=parse_metadata_columns,
        doc="Additional columns with metadata, such as timestamp AS event_time, partition. Keys are topic, partition, "
        "offset, timestamp, timestamp-type, headers (a map), header-list (in order, with repeats), traceparent, "
        "leader-epoch, __raw_key__, __raw_value__ and, for a read with a change data format, that format's own as "
        "value.<key>. A schema that you give must contain these columns, with these types or others that can be cast "
        "safely. A sink sets the record's metadata from them, except offset, timestamp-type and leader-epoch, and "
        "writes the other columns with its format; __raw_value__ is a whole value and excludes other columns.",
    )
    columns: tuple[DeclaredColumn, ...] = option(
        "columns",
        default=(),
        parse=parse_column_list,
        doc="The columns to read with the format, as Spark DDL, instead of .schema(...): id BIGINT NOT NULL, name "
        "STRING. The columns of metadata.columns and, with a change data format, the row kind are added; declare them "
        "here to choose their types. An entry * means the remaining columns of the format if it can infer them: "
        "key_id BIGINT, *. Writes ignore this option and take the columns of their rows (an addition).",
    )
    row_kind_column: str = option(
        "changelog.row-kind-column",
        default="row_kind",
        doc="With a change data format, such as debezium-json, or with upsert-kafka: the STRING column with the kind "
        "of change: +I (inserted), -U (the row before an update), +U (the row after it) or -D (deleted). The schema "
        "of a read must contain it, at any position. If the rows of a write do not have it, all of them are "
        "insertions (an addition).",
    )

    @property
    def is_upsert(self) -> bool:
        """True when the topic is a table with a primary key, whose messages are its latest rows."""
        return self.connector == "upsert-kafka"

    @property
    def leaves_key_out(self) -> bool:
        """True when the columns of the key are not part of the value."""
        return self.value_include == "EXCEPT_KEY"
