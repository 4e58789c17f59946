"""Build the records of an upsert table from the changes of one task's rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import cast

import pyarrow as pa

from millrace.contracts import Payloads
from millrace.errors import MessageError
from millrace.options.connector import SinkOptions
from millrace.records.producer_records import ProducerRecords
from millrace.records.row_kinds import checked_row_kinds
from millrace.sink.writer.change_reducers import ChangeReducer, KeyedChanges, LatestChangeBuffer, OldRowFilter
from millrace.sink.writer.payload_serializers import PayloadSerializer
from millrace.sink.writer.record_builder import RecordBuilder, row_kind_column_of


class UpsertRecordBuilder:
    """Turn the rows of one task into upserts and tombstones, in their order.

    Args:
        builder: Builds records of rows.
        options: The sink's options.
        schema: The rows' columns.
    """

    def __init__(self, builder: RecordBuilder, options: SinkOptions, schema: pa.Schema) -> None:
        self._builder = builder
        # Options without a key are refused for an upsert table
        self._keys = cast(PayloadSerializer, builder.keys)
        self._topic = options.topics[0]
        self._key_columns = options.key_fields
        self._row_kind_column = row_kind_column_of(schema, options)
        self._reducers = _reducers(options, self._row_kind_column)

    def build(self, rows: pa.RecordBatch) -> Iterator[ProducerRecords]:
        """Build the records of a batch that need not wait for further rows.

        Raises:
            MessageError: A row has no key or an unknown row kind; or as `RecordBuilder.build`, with the row's key.
        """
        self._check(rows)
        keys = self._keys.serialize_rows(self._topic, rows)
        changes: Iterable[KeyedChanges] = [KeyedChanges(rows, _without_nulls(keys))]
        for reducer in self._reducers:
            changes = chain.from_iterable(map(reducer.add, changes))
        yield from self._records(changes)

    def finish(self) -> Iterator[ProducerRecords]:
        """Build the records that have waited for further rows.

        Raises:
            MessageError: As `RecordBuilder.build`, with the row's key.
        """
        changes: Iterable[KeyedChanges] = ()
        for reducer in self._reducers:
            changes = chain(chain.from_iterable(map(reducer.add, changes)), reducer.finish())
        yield from self._records(changes)

    def _records(self, changes: Iterable[KeyedChanges]) -> Iterator[ProducerRecords]:
        for batch in changes:
            try:
                yield from self._build(batch)
            except MessageError as error:
                # Its row numbers are those of the changes that are left, perhaps of several batches
                raise self._naming_the_key(batch) or error from error

    def _build(self, changes: KeyedChanges) -> Iterator[ProducerRecords]:
        return self._builder.build(changes.rows, Payloads(changes.keys))

    def _naming_the_key(self, changes: KeyedChanges) -> MessageError | None:
        """Return the error of changes that cannot be built, with the key of the row; None if no single row has one."""
        while (count := len(changes.keys)) > 1:
            first, second = changes.select(range(count // 2)), changes.select(range(count // 2, count))
            changes = second if self._error_of(first) is None else first
        error = self._error_of(changes)
        if error is None:
            return None
        key = f"row with key {str(changes.keys[0], 'utf-8', 'backslashreplace')!r}"
        text = str(error)
        return MessageError(text.replace("row 0", key, 1) if "row 0" in text else f"{key}: {text}")

    def _error_of(self, changes: KeyedChanges) -> MessageError | None:
        try:
            for _ in self._build(changes):
                pass
        except MessageError as error:
            return error
        return None

    def _check(self, rows: pa.RecordBatch) -> None:
        if self._row_kind_column is not None:
            checked_row_kinds(rows, self._row_kind_column)
        for name in self._key_columns:
            column = rows.column(name)
            if column.null_count:
                raise MessageError(
                    f"column {name!r}, row {column.is_null().index(True).as_py()}: it belongs to the key of an upsert "
                    f"table ('key.fields') and must not be NULL"
                )


def _reducers(options: SinkOptions, row_kind_column: str | None) -> Sequence[ChangeReducer]:
    reducers: list[ChangeReducer] = []
    if row_kind_column is not None:
        reducers.append(OldRowFilter(row_kind_column))
    if options.is_buffered:
        # The records of a transaction become visible together, and must be the same when it is repeated
        interval_s = None if options.is_exactly_once else options.buffer_interval_ms / 1000
        reducers.append(LatestChangeBuffer(options.buffer_max_rows, interval_s))
    return reducers


def _without_nulls(keys: Payloads) -> Sequence[bytes]:
    items = keys.to_list()
    if keys.null_count:
        raise MessageError(f"row {items.index(None)} has a null key, as the format of keys ('key.format') writes it")
    return cast(Sequence[bytes], items)
