"""Build record batches with the query's columns from messages, and single out malformed messages."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from millrace.contracts import Decoded
from millrace.errors import SchemaChangedError, SchemaMismatchError
from millrace.options import options_of
from millrace.options.metadata import SelectedMetadata
from millrace.plugins.manager import PluginRef
from millrace.records.key_value_projection import ColumnProjection
from millrace.records.messages import Messages, describe_position
from millrace.records.metadata_columns import Misfit, metadata_columns
from millrace.records.row_kinds import decoded_row_kinds
from millrace.source.reader.error_policy import MalformedRecord
from millrace.source.reader.key_decoder import KeyDecoder


class BuiltBatch(NamedTuple):
    """The rows of some messages.

    Attributes:
        batch: The rows.
        malformed: The messages that have none because something is wrong with them, in order.
        message_index: For each row the index of its message; None when every message has one row, in order.
    """

    batch: pa.RecordBatch
    malformed: tuple[MalformedRecord, ...] = ()
    message_index: np.ndarray | None = None


class RecordBatchBuilder:
    """Build rows of messages: decoded values, metadata, row kinds, and the columns of keys.

    Args:
        schema: The query's columns.
        decode_values: Decodes the values of messages.
        metadata: Which metadata is among the columns.
        value_format: The format of values; None for the columns of Spark's own connector.
        value_projection: The columns of the format of values.
        row_kind_column: The column of row kinds, of a changelog format.
        key_decoder: Decodes the keys of messages, with a format of keys.
    """

    def __init__(
        self,
        schema: pa.Schema,
        decode_values: Callable[[Messages], Decoded],
        metadata: tuple[SelectedMetadata, ...],
        value_format: PluginRef | None = None,
        value_projection: ColumnProjection | None = None,
        row_kind_column: str | None = None,
        key_decoder: KeyDecoder | None = None,
    ) -> None:
        self._schema = schema
        self._decode_values = decode_values
        self._metadata = metadata
        self._value_format = value_format
        self._row_kind_column = row_kind_column
        self._key_decoder = key_decoder
        value_columns = () if value_projection is None else value_projection.columns
        self._value_positions = {name: index for index, name in enumerate(value_columns)}
        has_all_columns = value_projection is None or value_projection.schema == schema
        self._is_value_only = has_all_columns and not metadata and row_kind_column is None and key_decoder is None
        # Decoders check the columns of values themselves
        unchecked = (field for field in schema if field.name not in {*self._value_positions, row_kind_column})
        self._not_null = [field.name for field in unchecked if not field.nullable]

    def __call__(self, messages: Messages, keys: Decoded | None = None) -> BuiltBatch:
        """Build the rows of some messages.

        Args:
            messages: The messages.
            keys: Their keys, where they have been decoded.

        Raises:
            PluginError: A format does not keep its contract.
            SchemaChangedError: The columns follow the messages, and one of the messages does not fit them.
        """
        with _schema_mismatch_at(messages, "key"):
            if keys is None and self._key_decoder is not None:
                keys = self._key_decoder.decode(messages)
        with _schema_mismatch_at(messages, "message"):
            decoded = self._decode_values(messages)
        batch, misfits = (decoded.rows, {}) if self._is_value_only else self._add_columns(messages, decoded, keys)
        # Messages whose values have been decoded, so that their rows must go
        rejected = dict(self._malformed_keys(messages, keys))
        for index, malformed in self._metadata_misfits(messages, misfits, decoded.message_index):
            rejected.setdefault(index, malformed)
        for index, malformed in self._unexpected_nulls(messages, batch, decoded.message_index):
            rejected.setdefault(index, malformed)
        message_index = None if decoded.message_index is None else decoded.message_index.to_numpy()
        if not rejected and not decoded.errors:
            return BuiltBatch(batch, message_index=message_index)
        if rejected:
            message_index = np.arange(batch.num_rows) if message_index is None else message_index
            is_kept = ~np.isin(message_index, list(rejected))
            batch, message_index = batch.filter(pa.array(is_kept)), message_index[is_kept]
        all_malformed = self._malformed_values(messages, decoded) | rejected
        return BuiltBatch(batch, tuple(all_malformed[index] for index in sorted(all_malformed)), message_index)

    def _add_columns(
        self, messages: Messages, decoded: Decoded, keys: Decoded | None
    ) -> tuple[pa.RecordBatch, Mapping[int, Misfit]]:
        added, misfits = metadata_columns(self._schema, self._metadata, messages, decoded)
        if self._row_kind_column is not None:
            added[self._row_kind_column] = decoded_row_kinds(decoded)
        if self._key_decoder is not None and keys is not None:
            added |= self._key_decoder.columns_for(keys, len(messages.items), decoded.message_index)
        arrays = [
            added[name] if name in added else decoded.rows.column(self._value_positions.get(name, name))
            for name in self._schema.names
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema), misfits

    def _malformed_values(self, messages: Messages, decoded: Decoded) -> dict[int, MalformedRecord]:
        format_ = self._value_format
        if format_ is None:
            return {}
        lenient = _lenient_option(format_, "")
        return {
            error.index: MalformedRecord(
                messages.items[error.index], error.reason, format_.name, lenient_option=lenient
            )
            for error in decoded.errors
        }

    def _malformed_keys(self, messages: Messages, keys: Decoded | None) -> Iterator[tuple[int, MalformedRecord]]:
        if self._key_decoder is None or keys is None:
            return
        format_ = self._key_decoder.format
        for error in keys.errors:
            message, lenient = messages.items[error.index], _lenient_option(format_, "key.")
            yield error.index, MalformedRecord(message, error.reason, format_.name, True, lenient)

    def _metadata_misfits(
        self, messages: Messages, misfits: Mapping[int, Misfit], message_index: pa.Int32Array | None
    ) -> Iterator[tuple[int, MalformedRecord]]:
        name = "" if self._value_format is None else self._value_format.name
        for row, misfit in misfits.items():
            index = row if message_index is None else message_index[row].as_py()
            yield index, MalformedRecord(messages.items[index], misfit.reason, name, misfit.is_key)

    def _unexpected_nulls(
        self, messages: Messages, batch: pa.RecordBatch, message_index: pa.Int32Array | None
    ) -> Iterator[tuple[int, MalformedRecord]]:
        for name in self._not_null:
            column = batch.column(name)
            if not column.null_count:
                continue
            is_key = self._key_decoder is not None and name in self._key_decoder.columns
            format_ = self._key_decoder.format if self._key_decoder is not None and is_key else self._value_format
            reason = f"null in column {name!r}, which is NOT NULL"
            for row in np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False)).tolist():
                index = row if message_index is None else message_index[row].as_py()
                yield index, MalformedRecord(messages.items[index], reason, format_.name if format_ else "", is_key)


@contextmanager
def _schema_mismatch_at(messages: Messages, part: str) -> Iterator[None]:
    """Name the position of a message that does not fit the columns."""
    try:
        yield
    except SchemaMismatchError as error:
        position = describe_position(messages.items[error.index])
        raise SchemaChangedError(f"the {part} in {position} does not fit the columns: {error.reason}") from None


@functools.cache
def _lenient_option(format_: PluginRef, prefix: str) -> str | None:
    names = (info.name for info in options_of(type(format_.options)).values() if info.skips_malformed)
    return next((f"{prefix}{format_.name}.{name}" for name in names), None)
