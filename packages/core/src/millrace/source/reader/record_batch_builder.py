"""From messages to rows as the query's schema has them, and to the messages that have none."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from millrace.contracts import Decoded, SchemaMismatchError
from millrace.errors import SchemaChangedError
from millrace.options import options_of
from millrace.options.metadata import MetadataColumn
from millrace.plugins.manager import PluginRef
from millrace.records.key_value_projection import Part
from millrace.records.messages import Messages
from millrace.source.reader.key_decoder import Keys
from millrace.source.reader.malformed_record import MalformedRecord, place_of
from millrace.source.reader.metadata_columns import metadata_columns
from millrace.source.reader.row_kinds import row_kinds


class Rows(NamedTuple):
    """What some messages became.

    Attributes:
        batch: The rows.
        bad: The messages that have none because something is wrong with them, in order.
    """

    batch: pa.RecordBatch
    bad: tuple[MalformedRecord, ...] = ()


class RecordBatchBuilder:
    """Makes rows of messages: what is decoded, its metadata, its row kinds, and what keys say.

    Args:
        schema: The query's columns.
        decode: Decodes the values.
        metadata: Which metadata is among the columns.
        value_format: The format of values; None for the columns of Spark's own connector.
        value: The columns of the format of values.
        row_kind_column: The column of row kinds, of a format of changes.
        keys: The columns of keys.
    """

    def __init__(
        self,
        schema: pa.Schema,
        decode: Callable[[Messages], Decoded],
        metadata: tuple[MetadataColumn, ...],
        value_format: PluginRef | None = None,
        value: Part | None = None,
        row_kind_column: str | None = None,
        keys: Keys | None = None,
    ) -> None:
        self._schema = schema
        self._decode = decode
        self._metadata = metadata
        self._value_format = value_format
        self._row_kind_column = row_kind_column
        self._keys = keys
        self._places = {name: index for index, name in enumerate(value.columns)} if value is not None else {}
        is_whole = value is None or value.schema == schema
        self._is_plain = is_whole and not metadata and row_kind_column is None and keys is None
        # What formats decode they have checked
        self._not_null = [
            field.name for field in schema if not (field.nullable or field.name in {*self._places, row_kind_column})
        ]

    def __call__(self, messages: Messages) -> Rows:
        """The rows of some messages.

        Raises:
            PluginError: A format does not keep its contract.
            SchemaChangedError: The columns follow the messages, and one of them does not fit them.
        """
        with _unfit(messages, "key"):
            keys = None if self._keys is None else self._keys.decode(messages)
        with _unfit(messages, "message"):
            decoded = self._decode(messages)
        batch = decoded.rows if self._is_plain else self._completed(messages, decoded, keys)
        # Messages whose values have rows all the same
        blamed = dict(self._bad_keys(messages, keys))
        for index, bad in self._nulls(messages, batch, decoded.message_index):
            blamed.setdefault(index, bad)
        if not blamed and not decoded.errors:
            return Rows(batch)
        if blamed:
            batch = _without(batch, decoded.message_index, blamed)
        found = self._bad_values(messages, decoded) | blamed
        return Rows(batch, tuple(found[index] for index in sorted(found)))

    def _completed(self, messages: Messages, decoded: Decoded, keys: Decoded | None) -> pa.RecordBatch:
        beside = metadata_columns(self._schema, self._metadata, messages, decoded)
        if self._row_kind_column is not None:
            beside[self._row_kind_column] = row_kinds(decoded)
        if self._keys is not None and keys is not None:
            beside |= self._keys.columns(keys, len(messages.items), decoded.message_index)
        made = [
            beside[name] if name in beside else decoded.rows.column(self._places.get(name, name))
            for name in self._schema.names
        ]
        return pa.RecordBatch.from_arrays(made, schema=self._schema)

    def _bad_values(self, messages: Messages, decoded: Decoded) -> dict[int, MalformedRecord]:
        format_ = self._value_format
        if format_ is None:
            return {}
        lenient = _lenient(format_, "")
        return {
            error.index: MalformedRecord(messages.items[error.index], error.reason, format_.name, lenient=lenient)
            for error in decoded.errors
        }

    def _bad_keys(self, messages: Messages, keys: Decoded | None) -> Iterator[tuple[int, MalformedRecord]]:
        if self._keys is None or keys is None:
            return
        format_ = self._keys.format
        for error in keys.errors:
            item = messages.items[error.index]
            yield (
                error.index,
                MalformedRecord(item, error.reason, format_.name, is_key=True, lenient=_lenient(format_, "key.")),
            )

    def _nulls(
        self, messages: Messages, batch: pa.RecordBatch, message_index: pa.Int32Array | None
    ) -> Iterator[tuple[int, MalformedRecord]]:
        for name in self._not_null:
            column = batch.column(name)
            if not column.null_count:
                continue
            of_key = self._keys if self._keys is not None and name in self._keys.shown else None
            format_ = self._value_format if of_key is None else of_key.format
            reason = f"null in column {name!r}, which is NOT NULL"
            for row in np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False)).tolist():
                index = row if message_index is None else message_index[row].as_py()
                yield (
                    index,
                    MalformedRecord(
                        messages.items[index], reason, format_.name if format_ else "", is_key=of_key is not None
                    ),
                )


@contextmanager
def _unfit(messages: Messages, what: str) -> Iterator[None]:
    """Say where a message is that does not fit the columns."""
    try:
        yield
    except SchemaMismatchError as error:
        place = place_of(messages.items[error.index])
        raise SchemaChangedError(f"the {what} in {place} does not fit the columns: {error.reason}") from None


def _without(
    batch: pa.RecordBatch, message_index: pa.Int32Array | None, bad: Mapping[int, MalformedRecord]
) -> pa.RecordBatch:
    """The rows of the other messages."""
    of_rows = np.arange(batch.num_rows) if message_index is None else message_index.to_numpy()
    return batch.filter(pa.array(~np.isin(of_rows, list(bad))))


@functools.cache
def _lenient(format_: PluginRef, side: str) -> str | None:
    names = {info.name for info in options_of(type(format_.options)).values()}
    return f"{side}{format_.name}.ignore-parse-errors" if "ignore-parse-errors" in names else None
