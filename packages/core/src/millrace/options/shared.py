"""The options that source and sink share: topics, formats, and the columns of keys, values and metadata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from millrace.options.column_list import DeclaredColumn, parse_column_list
from millrace.options.field import option
from millrace.options.metadata import MetadataColumn, parse_metadata_columns
from millrace.options.values import parse_columns, parse_connector, parse_java_pattern, parse_topics


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """The options that source and sink share."""

    connector: str = option(
        "connector",
        default="kafka",
        parse=parse_connector,
        doc="kafka; or upsert-kafka, with which a topic is a table with a primary key: its columns are those of "
        "key.fields, a message is the latest row of its key, and one without a value deletes it. As in the WITH clause "
        "of a table.",
    )
    topics: tuple[str, ...] = option(
        "topic",
        default=(),
        parse=parse_topics,
        doc="The topic, or topics separated by ';'. With several topics a sink writes each row to the one "
        "that the metadata column topic names or, without a format, the column topic.",
    )
    topic_pattern: str | None = option(
        "topic-pattern",
        default=None,
        parse=parse_java_pattern,
        doc="A regular expression, in Java's syntax, that must match the whole name of a topic: of the "
        "topics to read, or of those that the rows of a sink may name. Kafka's internal topics never "
        "match.",
    )
    value_format: str | None = option(
        "value.format",
        default=None,
        aliases=("format",),
        wins=True,
        doc="The format of values; of the two names value.format wins. "
        "Without it rows have the columns of Spark's own Kafka connector.",
    )
    key_format: str | None = option(
        "key.format",
        default=None,
        doc="The format of keys, beside one of values. Its own options are prefixed with key.<format>., "
        "those of the format of values with value.<format>. or <format>. only. Without it keys are "
        "available as metadata only.",
    )
    key_fields: tuple[str, ...] = option(
        "key.fields",
        default=(),
        parse=parse_columns,
        doc="The columns of the key, separated by ';', in the order in which its format has them.",
    )
    key_prefix: str = option(
        "key.fields-prefix",
        default="",
        doc="A prefix of the key's columns in rows and in key.fields, but not in the key itself, for values "
        "with fields of the same names. Requires value.fields-include = EXCEPT_KEY.",
    )
    value_prefix: str = option(
        "value.fields-prefix",
        default="",
        doc="A prefix of all columns of the value in rows, but not in the value itself. With key.format it "
        "requires value.fields-include = EXCEPT_KEY.",
    )
    value_include: Literal["ALL", "EXCEPT_KEY"] = option(
        "value.fields-include",
        default="ALL",
        doc="Whether the value contains the columns of the key, which are then read from it: ALL, or EXCEPT_KEY.",
    )
    metadata: tuple[MetadataColumn, ...] = option(
        "metadata.columns",
        default=(),
        aliases=("metadata.list",),
        parse=parse_metadata_columns,
        doc="Metadata as further columns, as timestamp AS event_time, partition: of topic, partition, offset, "
        "timestamp, timestamp-type, headers (a map), header-list (in order, with repeats), leader-epoch, __raw_key__, "
        "__raw_value__. A schema that is given must have them, in these types or others with a safe cast. "
        "A sink takes them from these columns, all but offset, "
        "timestamp-type and leader-epoch, and its format writes the others; __raw_value__ is a whole value, so that "
        "there must be no others. A read by a format of changes also has the format's own metadata, as value.<key>.",
    )
    columns: tuple[DeclaredColumn, ...] = option(
        "columns",
        default=(),
        parse=parse_column_list,
        doc="The columns of the formats for a read without .schema(...), as in Spark's DDL: id BIGINT NOT NULL, name "
        "STRING. The read also has those of metadata.columns and, with a changelog format, of row kinds, each of which "
        "may be declared too, to choose its type. An entry * stands for the other columns of the format, inferred "
        "where it infers them: key_id BIGINT, *. A write takes the columns of its rows instead (an addition).",
    )
    row_kind_column: str = option(
        "changelog.row-kind-column",
        default="row_kind",
        doc="With a changelog format, such as debezium-json, or with upsert-kafka: the STRING column of row kinds: "
        "inserted (+I), the old row of an update (-U), its new row (+U), or deleted (-D). The schema of a read must "
        "have it, at any place; a write uses it if the rows have it, else all rows are inserted (an "
        "addition).",
    )

    @property
    def is_upsert(self) -> bool:
        """True when the topic is a table with a primary key, whose messages are its latest rows."""
        return self.connector == "upsert-kafka"

    @property
    def leaves_key_out(self) -> bool:
        """True when the columns of the key are not part of the value."""
        return self.value_include == "EXCEPT_KEY"
