"""The serialization of rows into records, and their topics and partitions, with PyFlink's names."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from millrace.api.builder import BuilderOptions, plugin_options
from millrace.api.record_functions import (
    TOPIC_COLUMN,
    KafkaTopicSelector,
    ProducerRecord,
    add_topics,
    make_records,
)
from millrace.api.string_schema import SimpleStringSchema
from millrace.options.secrets import Properties
from millrace.plugins.kinds import FORMAT, PARTITIONER

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

    from millrace.contracts import Partitioner


@dataclass(frozen=True)
class KafkaRecordSerializationSchema:
    """The serialization of rows, for `KafkaSinkBuilder.set_record_serializer`; built by its own builder.

    Attributes:
        options: The options of the data source; their text shows no secret.
        transform: Applies the user's functions to the rows before they are written; None if there are none.
    """

    options: Properties
    transform: Callable[[DataFrame], DataFrame] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, serialize: Callable[[Row], ProducerRecord | None], *, topic: str | None = None) -> Self:
        """Build whole records by a function, which Spark's Python workers call for each row.

        It takes much longer than columns and formats do.

        Args:
            serialize: Makes a `ProducerRecord` of a row; None for a row that is not written.
            topic: The topic of all records; None where each names its own.
        """
        transform = functools.partial(make_records, serialize=serialize, has_topics=topic is None)
        return cls(Properties({} if topic is None else {"topic": topic}), transform)

    @staticmethod
    def builder() -> KafkaRecordSerializationSchemaBuilder:
        """Create an empty builder."""
        return KafkaRecordSerializationSchemaBuilder()


class KafkaRecordSerializationSchemaBuilder:
    """Build a `KafkaRecordSerializationSchema`; each method is called once at most.

    Topics and headers that differ from row to row come from columns, which are then no part of the value.
    """

    def __init__(self) -> None:
        self._options = BuilderOptions()
        self._columns: dict[str, str] = {}
        self._topic_of_row: Callable[[Row], str] | None = None
        self._value_is_text = False
        self._key_is_the_value = False

    def set_topic(self, topic: str) -> Self:
        """Write all rows to one topic."""
        return self._set("set_topic", {"topic": topic})

    def set_topic_selector(self, topic_selector: str | Callable[[Row], str] | KafkaTopicSelector) -> Self:
        """Write each row to the topic that a column names, or a function.

        Args:
            topic_selector: The name of a STRING column, or a function from a row to a topic, itself or as a
                `KafkaTopicSelector`, which Spark's Python workers call for each row.
        """
        if isinstance(topic_selector, KafkaTopicSelector):
            topic_selector = topic_selector.apply
        if not callable(topic_selector):
            return self._set_column("set_topic_selector", "topic", topic_selector)
        if self._topic_of_row not in (None, topic_selector):
            self._options.report("set_topic_selector: there are two functions; call it once")
        self._topic_of_row = topic_selector
        return self._set_column("set_topic_selector", "topic", TOPIC_COLUMN)

    def set_header_provider(self, column: str, *, as_list: bool = False) -> Self:
        """Take the headers of each record from a column.

        Args:
            column: The name of a column MAP<STRING, BINARY>.
            as_list: Whether it is ARRAY<STRUCT<key: STRING, value: BINARY>> instead: in order, with repeats.
        """
        return self._set_column("set_header_provider", "header-list" if as_list else "headers", column)

    def set_value_serialization_schema(
        self, value_serialization_schema: str | SimpleStringSchema, **options: object
    ) -> Self:
        """Encode rows by a format; without it their columns are those of Spark's own Kafka connector.

        Args:
            value_serialization_schema: The name of a format, such as ``json``, or a `SimpleStringSchema`.
            **options: The format's options with ``_`` in place of ``-`` and ``.``, as
                ``encode_ignore_null_fields=True``.
        """
        self._value_is_text = isinstance(value_serialization_schema, SimpleStringSchema)
        settings = _format_options("format", "", value_serialization_schema, options)
        return self._set("set_value_serialization_schema", settings)

    def set_key_serialization_schema(
        self,
        key_serialization_schema: str | SimpleStringSchema,
        fields: str | Iterable[str] | None = None,
        *,
        prefix: str = "",
        **options: object,
    ) -> Self:
        """Serialize columns into keys by a format, in addition to a format of values.

        Args:
            key_serialization_schema: The name of a format, such as ``json``, or a `SimpleStringSchema`.
            fields: The columns of the key, in the order in which the key has them. Without them the key is the column
                ``value``, as the value is, where both have a `SimpleStringSchema`.
            prefix: A prefix of their names, which the key leaves out; they are then no part of the value.
            **options: The format's options with ``_`` in place of ``-`` and ``.``.
        """
        settings = _format_options("key.format", "key.", key_serialization_schema, options)
        if fields is None:
            self._key_is_the_value = True
            fields = SimpleStringSchema.COLUMN
        settings["key.fields"] = fields if isinstance(fields, str) else ";".join(fields)
        if prefix:
            settings |= {"key.fields-prefix": prefix, "value.fields-include": "EXCEPT_KEY"}
        return self._set("set_key_serialization_schema", settings)

    def set_partitioner(self, partitioner: str | type[Partitioner], /, **options: object) -> Self:
        """Set the partitioner, which chooses the partition of each record.

        Args:
            partitioner: The name of a partitioner, or a class that executors can import, itself or as ``module:Class``.
            **options: Its options with ``_`` in place of ``-`` and ``.``.
        """
        try:
            name = _import_string(partitioner) if isinstance(partitioner, type) else partitioner
        except ValueError as error:
            self._options.report(f"set_partitioner: {error}")
            return self
        settings = plugin_options(PARTITIONER, "sink.partitioner", name, "sink.partitioner.", options)
        return self._set("set_partitioner", settings)

    def build(self) -> KafkaRecordSerializationSchema:
        """Build the schema. The values of its options are checked when the sink is built.

        Raises:
            OptionsError: Something is missing or contradictory; the message lists all problems.
        """
        self._options.raise_problems("KafkaRecordSerializationSchema", self._problems())
        select = self._topic_of_row
        transform = None if select is None else functools.partial(add_topics, select_topic=select)
        return KafkaRecordSerializationSchema(self._all_options(), transform)

    def _all_options(self) -> Properties:
        derived = {}
        if self._columns:
            derived["metadata.columns"] = ", ".join(f"{key} AS {column}" for key, column in self._columns.items())
        if self._value_is_text and not self._key_is_the_value and self._options.has("key.fields"):
            # A text is one column, so that those of the key are no part of it
            derived["value.fields-include"] = "EXCEPT_KEY"
        return Properties({**self._options.options, **derived})

    def _problems(self) -> Iterator[str]:
        has_topic, has_selector = self._options.has("topic"), "topic" in self._columns
        if has_topic and has_selector:
            yield "set_topic and set_topic_selector exclude each other: call one of them"
        if not has_topic and not has_selector:
            yield "there is nowhere to write: call set_topic or set_topic_selector"
        if self._key_is_the_value and not self._value_is_text:
            yield "set_key_serialization_schema: name the columns of the key, such as ['id']"
        if {"headers", "header-list"} <= self._columns.keys():
            yield "set_header_provider: the headers are a map or a list, not both; call it once"

    def _set(self, method: str, options: dict[str, object]) -> Self:
        self._options.set(method, options)
        return self

    def _set_column(self, method: str, key: str, column: object) -> Self:
        if not isinstance(column, str):
            self._options.report(
                f"{method}: expected the name of a column, such as {key!r}; got {type(column).__name__}. Rows are "
                f"columns here: make one by df.withColumn(...)"
            )
            column = type(column).__name__
        if self._columns.setdefault(key, column) != column:
            self._options.report(f"{method}: it is {self._columns[key]!r} and {column!r}; call it once")
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._all_options()})"


def _format_options(
    option: str, prefix: str, schema: str | SimpleStringSchema, options: Mapping[str, object]
) -> dict[str, object]:
    if isinstance(schema, SimpleStringSchema):
        options, schema = {**schema.options, **options}, schema.FORMAT
    return plugin_options(FORMAT, option, schema, f"{prefix}{schema}.", options)


def _import_string(cls: type) -> str:
    if cls.__module__ == "__main__" or "." in cls.__qualname__:
        raise ValueError(
            f"executors cannot import {cls.__module__}.{cls.__qualname__}; define the class at the top level of a "
            f"module that is installed where they run"
        )
    return f"{cls.__module__}:{cls.__qualname__}"
