"""Settings by which the messages of a source are parsed into changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import pyarrow as pa

from millrace.change_dialects import SkipReason
from millrace.contracts import SampledMessage, SinkCapabilities
from millrace.options.secrets import Properties
from millrace.plugins.manager import PluginRef
from millrace_catalog.inference import CanalReader, MaxwellReader, OggReader
from millrace_catalog.inference.options import CanalInferenceOptions, DebeziumInferenceOptions, FormatOptions
from millrace_cdc.rows import change_encoding
from millrace_cdc.runtime.extra_columns import HEADERS_COLUMN, ExtraColumns
from millrace_cdc.runtime.flattened_records import json_row_reader
from millrace_cdc.runtime.message_rows import ChangeReader, MessageRows
from millrace_cdc.runtime.registry_changes import FORMAT_NAME, debezium_change_reader, registry_change_reader
from millrace_cdc.runtime.schema_headers import IN_PAYLOADS, MessageSchemas, SchemaHeaders
from millrace_cdc.table_id import topic_table

MESSAGE_COLUMNS = ("topic", "partition", "offset", "timestamp", "key", "value")
"""The columns of the source that every parser reads."""

_READERS: dict[str, Callable[[str, Any], ChangeReader]] = {
    "debezium-json": debezium_change_reader,
    "canal-json": CanalReader,
    "maxwell-json": MaxwellReader,
    "ogg-json": OggReader,
    "json": json_row_reader,
    FORMAT_NAME: registry_change_reader,
    change_encoding.FORMAT: change_encoding.TypedRowReader,
}


@dataclass(frozen=True)
class ParserSettings:
    """Settings of a parser; plain data that travels to executors.

    Attributes:
        format: The format of messages.
        options: Its options.
        strategy: ``continuous``, or ``static`` for tables that keep their first columns.
        max_columns: Maximum number of columns of a table.
        skips_malformed: Whether malformed messages are skipped and counted.
        counts_runs: Whether those one after another are counted, too.
        collector: Collects them; None where nothing does.
        client: Properties of the Kafka client of a collector that writes to topics; None without one.
        has_headers: Whether the source's messages have the column of headers that collectors get too.
        extra: Columns beside those of values.
        has_distributed_tables: Whether the changes of a table may be in several partitions.
        has_times: Whether Spark has columns of times.
        pauses: Whether a table that cannot change as it needs is paused; if not, the task fails.
        malformed_table: The id of the table of malformed messages; None where there is none.
        upserts: Whether updates may lack their old rows.
        upsert_advice: Where they may not, the advice that the sink has for it.
        keeps_values: Whether updates may lack values that they leave as they were.
        has_primary_keys: Whether the keys of messages have the columns of primary keys.
        schema_headers: The headers that may name the schemas of messages; None where there are none.
    """

    format: str
    options: FormatOptions
    strategy: Literal["continuous", "static"] = "continuous"
    max_columns: int = 2_000
    skips_malformed: bool = False
    counts_runs: bool = False
    collector: PluginRef | None = None
    client: Properties | None = None
    has_headers: bool = False
    extra: ExtraColumns = field(default_factory=ExtraColumns)
    has_distributed_tables: bool = True
    has_times: bool = False
    pauses: bool = False
    malformed_table: str | None = None
    upserts: bool = False
    upsert_advice: str = ""
    keeps_values: bool = False

    def for_sink(self, sink: SinkCapabilities) -> ParserSettings:
        """Return the same settings, for the changes that a sink can write."""
        return replace(self, upserts=sink.upserts, upsert_advice=sink.upsert_advice, keeps_values=sink.keeps_values)

    has_primary_keys: bool = False
    schema_headers: SchemaHeaders | None = None

    @property
    def source_columns(self) -> tuple[str, ...]:
        """The columns of the source that a parser reads."""
        headers = (HEADERS_COLUMN,) if self.has_headers or self.schema_headers is not None else ()
        return tuple(dict.fromkeys((*MESSAGE_COLUMNS, *self.extra.source_columns, *headers)))

    @property
    def declares_types(self) -> bool:
        """Return whether messages declare the types of their columns."""
        options = self.options
        if isinstance(options, DebeziumInferenceOptions):
            return options.schema_include
        return isinstance(options, CanalInferenceOptions) and options.strategy != "AUTO"

    def schemas_of(self, messages: pa.RecordBatch) -> list[MessageSchemas] | None:
        """Return for each message the schemas that its headers name; None where no message has such headers."""
        if self.schema_headers is None or HEADERS_COLUMN not in messages.schema.names:
            return None
        return self.schema_headers.of_all(messages.column(HEADERS_COLUMN))

    def schemas_of_sample(self, message: SampledMessage) -> MessageSchemas:
        """Return the schemas that the headers of a sampled message name."""
        return IN_PAYLOADS if self.schema_headers is None else self.schema_headers.of(message.headers)

    def message_rows(self, ignored: Counter[SkipReason]) -> MessageRows:
        """Make a parser of the rows of messages, which counts those that options say to ignore."""
        return MessageRows(self.format, ignored if self.options.ignore_parse_errors else None)

    def reader(self, topic: str) -> ChangeReader:
        """Make a reader of a topic's messages."""
        return _READERS[self.format](topic_table(topic), self.options)
