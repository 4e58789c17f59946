"""Encode the changes of tables as Kafka records, on the executors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from millrace_cdc.connectors.kafka.messages import MessageSettings, MessageValue, message_key, message_value
from millrace_cdc.rows.change_records import row_images

if TYPE_CHECKING:
    from millrace.contracts import PipelineTable

RECORD_COLUMNS = "topic STRING, partition INT, key BINARY, value BINARY"
"""The columns of records."""

_RECORD_SCHEMA = pa.schema(
    [("topic", pa.string()), ("partition", pa.int32()), ("key", pa.binary()), ("value", pa.binary())]
)


@dataclass(frozen=True)
class EncoderSettings:
    """Settings of an encoder; plain data that travels to executors.

    Attributes:
        messages: Settings of messages.
        uses_first_partition: Whether all records go to partition 0, else by the hash of their key.
        topics: Topics by id of a table.
    """

    messages: MessageSettings
    uses_first_partition: bool
    topics: Mapping[str, str]


class _TargetTopic(NamedTuple):
    topic: str
    key: Callable[[bytes], bytes | None]
    value: MessageValue


class RecordEncoder:
    """Encode the changes of one task.

    Args:
        settings: The settings.
        tables: The tables.
    """

    def __init__(self, settings: EncoderSettings, tables: Mapping[str, PipelineTable]) -> None:
        self._settings = settings
        self._tables = tables
        self._targets: dict[str, _TargetTopic] = {}

    def encode(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the records of changes, in the changes' order."""
        return map(self._encode_batch, batches)

    def _encode_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        topics: list[str] = []
        keys: list[bytes | None] = []
        values: list[bytes] = []
        befores, afters = row_images(batch)
        tables, operations = (batch.column(name).to_pylist() for name in ("table", "operation"))
        for table, operation, before, after in zip(tables, operations, befores, afters, strict=True):
            topic, key, value = self._targets.get(table) or self._targets.setdefault(table, self._target(table))
            topics.append(topic)
            keys.append(key(before if after is None else after))
            values.append(value(operation, before or b"null", after or b"null"))
        partition = pa.scalar(0 if self._settings.uses_first_partition else None, pa.int32())
        columns = [
            pa.array(topics, pa.string()),
            pa.repeat(partition, len(topics)),
            pa.array(keys, pa.binary()),
            pa.array(values, pa.binary()),
        ]
        return pa.record_batch(columns, _RECORD_SCHEMA)

    def _target(self, name: str) -> _TargetTopic:
        table, messages = self._tables[name], self._settings.messages
        return _TargetTopic(
            self._settings.topics[name],
            message_key(messages.key_format, table.primary_key),
            message_value(messages, name, table.schema, table.primary_key),
        )
