"""Serialize rows into the keys and the values of records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from millrace.contracts import Encoder, Format, Payloads, SerializationContext
from millrace.errors import MessageError, PluginError
from millrace.plugins.manager import PluginRef
from millrace.records.key_value_projection import ColumnProjection
from millrace.records.row_kinds import checked_row_kinds, is_delete
from millrace.sink.writer.topic_routing import TopicRows


class PayloadSerializer(ABC):
    """Serialize the keys, or the values, of records.

    Attributes:
        depends_on_topic: Whether the same row gives different payloads for different topics.
    """

    depends_on_topic = False

    def serialize(self, rows: pa.RecordBatch, topics: Collection[TopicRows]) -> Iterator[Payloads]:
        """Serialize a batch, with the payloads of one topic after the other.

        Args:
            rows: The batch.
            topics: Which of its rows go to which topic.
        """
        if self.depends_on_topic:
            for topic_rows in topics:
                yield self.serialize_rows(topic_rows.topic, topic_rows.take_from(rows))
            return
        # Rows of all topics together are serialized faster than in parts
        payloads = self.serialize_rows("", rows)
        for topic_rows in topics:
            yield payloads if topic_rows.indices is None else Payloads(topic_rows.take_from(payloads.to_array()))

    @abstractmethod
    def serialize_rows(self, topic: str, rows: pa.RecordBatch) -> Payloads:
        """Serialize rows for one topic, which is empty when the serializer does not depend on it."""


class ColumnSerializer(PayloadSerializer):
    """Take the bytes or text of one column as they are."""

    def __init__(self, column: str) -> None:
        self._column = column

    def serialize_rows(self, topic: str, rows: pa.RecordBatch) -> Payloads:
        """Take the column."""
        return Payloads(rows.column(self._column))


class FormatSerializer(PayloadSerializer):
    """Serialize columns by a format.

    Args:
        plugin: The format.
        encoding: An instance of it.
        part: The columns of the key or of the value.
        row_kind_column: The column that holds the row kinds; None when all rows are inserts.
        is_key: Whether the payloads are keys.

    Raises:
        SchemaError: The format cannot write the columns.
    """

    def __init__(
        self,
        plugin: PluginRef,
        encoding: Format,
        part: ColumnProjection,
        row_kind_column: str | None = None,
        is_key: bool = False,
    ) -> None:
        self.depends_on_topic = encoding.depends_on_topic
        self._name = plugin.name
        self._format = encoding
        self._part = part
        self._row_kind_column = row_kind_column
        self._is_key = is_key
        # Also checks the columns for a format that has an encoder for each topic
        self._encoder = encoding.encoder(part.schema)
        self._encoders: dict[str, Encoder] = {}

    def serialize_rows(self, topic: str, rows: pa.RecordBatch) -> Payloads:
        """Encode the rows' columns."""
        row_kinds = None if self._row_kind_column is None else checked_row_kinds(rows, self._row_kind_column)
        payloads = self._encoder_for(topic).encode(self._part.project(rows), row_kinds)
        if len(payloads) != rows.num_rows:
            raise PluginError(f"format {self._name!r} gave {len(payloads)} payloads for {rows.num_rows} rows")
        return payloads

    def _encoder_for(self, topic: str) -> Encoder:
        if not self.depends_on_topic:
            return self._encoder
        if topic not in self._encoders:
            context = SerializationContext(topic, self._is_key)
            self._encoders[topic] = self._format.encoder_for(self._part.schema, context)
        return self._encoders[topic]


class UpsertSerializer(PayloadSerializer):
    """Serialize the values of an upsert table: those of deleted rows are null, and no others.

    Args:
        values: Serializes the values of the other rows.
        row_kind_column: The column that holds the row kinds; None when no row is deleted.
    """

    def __init__(self, values: PayloadSerializer, row_kind_column: str | None) -> None:
        self.depends_on_topic = values.depends_on_topic
        self._values = values
        self._row_kind_column = row_kind_column

    def serialize_rows(self, topic: str, rows: pa.RecordBatch) -> Payloads:
        """Serialize the rows that are not deleted.

        Raises:
            MessageError: The value of such a row is null, which readers would take for a delete.
        """
        deleted = None if self._row_kind_column is None else is_delete(rows.column(self._row_kind_column))
        if deleted is None or not pc.any(deleted).as_py():
            return self._without_nulls(self._values.serialize_rows(topic, rows))
        values = self._values.serialize_rows(topic, rows.filter(pc.invert(deleted)))
        upserts = iter(self._without_nulls(values).to_list())
        flags = deleted.to_numpy(zero_copy_only=False).tolist()
        return Payloads([None if flag else next(upserts) for flag in flags])

    def _without_nulls(self, values: Payloads) -> Payloads:
        if values.null_count:
            row = values.to_list().index(None)
            raise MessageError(
                f"row {row} has a null value and is not deleted, but readers of an upsert table take a null value "
                f"for a delete. To delete it, write the row kind -D; else replace NULL in its column, or choose a "
                f"format that can write NULL, such as 'json'"
            )
        return values
