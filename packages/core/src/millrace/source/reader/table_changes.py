"""Read splits of a table with a primary key: as changes with old rows, as changes without, or as the latest rows."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from millrace.configuration import SourceConfig
from millrace.contracts import Decoded, Format, StateBackend, TopicPartition
from millrace.errors import PluginError, StateError
from millrace.plugins.manager import PluginRef
from millrace.records.messages import Messages
from millrace.records.metadata_columns import metadata_columns
from millrace.source.reader.change_log import ChangeLogReader
from millrace.source.reader.change_spool import ChangeSpool, check_layout
from millrace.source.reader.decoding_plan import primary_key_decoder_for, record_batch_builder_for
from millrace.source.reader.error_policy import ErrorPolicy, MalformedRecord
from millrace.source.reader.keyed_state import KeyedState, Overlay, state_above
from millrace.source.reader.normalization import EventReader, Normalizer, RowEvents, interleave, with_row_kinds
from millrace.source.reader.primary_key import PrimaryKeyDecoder, PrimaryKeys
from millrace.source.reader.split_metrics import SplitMetrics
from millrace.source.reader.state_versions import VersionedStore
from millrace.source.reader.stored_messages import codec_for
from millrace.source.reader.upsert_messages import UpsertReader, table_rows
from millrace.source.splits import OffsetRange, Split
from millrace.source.state_files import StateFiles, new_stream_writer

Fetch = Callable[[Split], Iterable[Messages]]


class TableReader:
    """Read splits of a table.

    Args:
        config: How to read.
        schema: The query's columns.
        zone: The time zone of text that has none.
        fetch: Fetches the messages of ranges.
        metrics: Where to count what was read.
        error_policy: Handles malformed messages.
    """

    def __init__(
        self,
        config: SourceConfig,
        schema: pa.Schema,
        zone: str,
        fetch: Fetch,
        metrics: SplitMetrics,
        error_policy: ErrorPolicy,
    ) -> None:
        self._config = config
        self._schema = schema
        self._fetch = fetch
        self._metrics = metrics
        self._error_policy = error_policy
        self._zone = zone
        self._build = record_batch_builder_for(config, schema, zone)

    def read(self, split: Split) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a split.

        Raises:
            StateError: The state of the table is missing, or cannot be read or written.
        """
        if split.state is not None:
            yield from self._changes(split)
        elif split.is_stream:
            yield from self._upserts(split)
        else:
            is_upsert = self._config.options.changelog_mode == "upsert"
            for range_ in split.ranges:
                yield from self._latest(Split((range_,)), self._last_changes() if is_upsert else self._rows(range_))

    def _changes(self, split: Split) -> Iterator[pa.RecordBatch]:
        """Yield changes with old rows, by the state of the table before them."""
        with ExitStack() as stack:
            ranges = zip(split.ranges, split.restart_offsets, strict=True)
            tables = {
                range_.partition: stack.enter_context(self._open(split, range_, first)) for range_, first in ranges
            }
            for table in tables.values():
                if table.spool is None:
                    self._error_policy.replayed(table.offsets.partition)
                    yield from table.replay()
            rest = tuple(range_ for range_ in split.ranges if tables[range_.partition].spool is not None)
            for messages in self._fetch(Split(rest)) if rest else ():
                yield self._change(tables[messages.partition], messages)
            # Their files say that these micro-batches were read to their ends, and that this was no error
            self._error_policy.finish()
            for table in tables.values():
                table.finish()

    def _change(self, table: _OpenTable, messages: Messages) -> pa.RecordBatch:
        changes = table.normalizer(messages, table.state)
        self._handle(messages, changes.malformed)
        if table.spool is not None:
            table.spool.append(messages, changes)
        return changes.rows

    @contextlib.contextmanager
    def _open(self, split: Split, offsets: OffsetRange, restart_offset: int) -> Iterator[_OpenTable]:
        """Yield the state of a partition as it is at the beginning of a range."""
        options, backend, state = self._config.options, self._backend(), split.state
        location = options.state_location
        if state is None or location is None:
            raise StateError("option 'state.checkpoints.dir' is required for the changes of a table")
        partition, files = offsets.partition, StateFiles(location, state.stream)
        events = self._event_reader(partition)
        versions = VersionedStore(
            files, backend, state, location, partition, events.column, options.retained_micro_batches, restart_offset
        )

        def read_again(missing: OffsetRange) -> None:
            self._read_again(Split((missing,), is_stream=True, state=state, restart_offsets=(restart_offset,)))

        normalizer = Normalizer(events, options.row_kind_column)
        with (
            versions.view(offsets.start, read_again, lambda: self._metrics.restored(partition)) as view,
            state_above(view, backend) as above,
        ):
            self._metrics.state_size(partition, view.size, view.size_bytes)
            is_replay = files.has_changes(partition, offsets.start, offsets.end)
            key_header = _schema_header(self._config.key_format, is_key=True)
            spool = None if is_replay else ChangeSpool(events.column, key_header)
            try:
                yield _OpenTable(offsets, files, events.column, normalizer, above, spool)
            finally:
                if spool is not None:
                    spool.close()

    def _read_again(self, split: Split) -> None:
        """Write the changes of an earlier micro-batch, whose messages do not count as those of this one."""
        policy = self._error_policy.for_other_micro_batch()
        with self._metrics.other_micro_batch():
            reader = TableReader(self._config, self._schema, self._zone, self._fetch, self._metrics, policy)
            for _ in reader.read(split):
                pass

    def _event_reader(self, partition: TopicPartition) -> EventReader:
        options = self._config.options
        if options.primary_key:
            return ChangeLogReader(self._build, self._schema, options.primary_key, options.row_kind_column, partition)
        codec = codec_for(options.metadata, _schema_header(self._config.value_format, is_key=False))
        return UpsertReader(self._build, self._primary_key(), codec, partition)

    def _primary_key(self) -> PrimaryKeyDecoder:
        return primary_key_decoder_for(self._config, self._schema, self._zone)

    def _upserts(self, split: Split) -> Iterator[pa.RecordBatch]:
        """Yield new rows as +U, and the keys of deleted ones as -D, in the order of their messages."""
        upserts_of = self._last_changes()
        for messages in self._fetch(split):
            yield upserts_of(messages).batch
        self._error_policy.finish()

    def _last_changes(self) -> Callable[[Messages], RowEvents]:
        """Return what makes rows of messages, deleted ones too, so that each event has one."""
        primary_key = self._primary_key()

        def upserts_of(messages: Messages) -> RowEvents:
            new = table_rows(messages, self._build, primary_key)
            self._handle(messages, new.malformed)
            row, count = np.array(new.row, np.int64), new.batch.num_rows
            pairs = enumerate(zip(new.keys.bytes, messages.values(), strict=True))
            deleted = [index for index, (key, value) in pairs if key is not None and value is None]
            row[deleted] = count + np.arange(len(deleted))
            rows = self._with_kinds(new.batch, "+U")
            tombstones = self._deleted_keys(messages, new.keys, primary_key, deleted) if deleted else None
            rows = interleave(rows, tombstones, row[row >= 0])
            changed = np.flatnonzero(row >= 0).tolist()
            keys = [key for key in map(new.keys.bytes.__getitem__, changed) if key is not None]
            return RowEvents(rows, keys, list(range(len(keys))), changed, new.malformed)

        return upserts_of

    def _rows(self, offsets: OffsetRange) -> Callable[[Messages], RowEvents]:
        """Return what makes rows of messages, as +I."""
        reader = self._event_reader(offsets.partition)

        def events_of(messages: Messages) -> RowEvents:
            events = reader.read(messages)
            self._handle(messages, events.malformed)
            return events

        return events_of

    def _latest(self, split: Split, events_of: Callable[[Messages], RowEvents]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the last event of each key in a range of a partition."""
        latest = Overlay(self._backend())
        try:
            with tempfile.TemporaryFile(prefix="millrace-rows-") as file:
                count = self._write_rows(split, events_of, latest, file)
                is_latest = np.zeros(count, bool)
                for row in latest.values():
                    is_latest[int.from_bytes(row)] = True
                file.seek(0)
                at = 0
                for batch in pa.ipc.open_stream(file) if count else ():
                    yield batch.filter(pa.array(is_latest[at : at + batch.num_rows]))
                    at += batch.num_rows
        finally:
            latest.close()

    def _write_rows(
        self, split: Split, events_of: Callable[[Messages], RowEvents], latest: Overlay, file: object
    ) -> int:
        """Write all rows of a split to a file, and the number of the last row of each key to an overlay."""
        count = 0
        with new_stream_writer(file, self._schema) as writer:
            for messages in self._fetch(split):
                events = events_of(messages)
                rows = zip(events.keys, events.row, strict=True)
                latest.set({key: None if row < 0 else (count + row).to_bytes(8) for key, row in rows})
                writer.write_batch(events.batch)
                count += events.batch.num_rows
        self._error_policy.finish()
        return count

    def _handle(self, messages: Messages, malformed: tuple[MalformedRecord, ...]) -> None:
        self._error_policy.handle(messages, malformed)
        self._metrics.emitted(messages.partition, messages.items)

    def _with_kinds(self, rows: pa.RecordBatch, kind: str) -> pa.RecordBatch:
        kinds = pa.repeat(pa.scalar(kind, pa.string()), rows.num_rows)
        return with_row_kinds(rows, self._config.options.row_kind_column, kinds)

    def _deleted_keys(
        self, messages: Messages, keys: PrimaryKeys, primary_key: PrimaryKeyDecoder, deleted: list[int]
    ) -> pa.RecordBatch:
        """Return rows with the keys and the metadata of messages, given by their indices, and nothing else."""
        rows = pa.array(deleted if keys.row is None else keys.row[deleted].tolist(), pa.int64())
        columns = dict(zip(primary_key.columns, keys.decoded.rows.take(rows).columns, strict=True))
        tombstones = Messages(messages.partition, [messages.items[index] for index in deleted])
        metadata = self._config.options.metadata
        columns |= metadata_columns(self._schema, metadata, tombstones, Decoded(keys.decoded.rows)).arrays
        arrays = [
            columns[field.name].cast(field.type) if field.name in columns else pa.nulls(len(rows), field.type)
            for field in self._schema
        ]
        return self._with_kinds(pa.RecordBatch.from_arrays(arrays, schema=self._schema), "-D")

    def _backend(self) -> StateBackend:
        if self._config.state_backend is None:
            raise PluginError("a table with a primary key needs a state backend (option 'state.backend')")
        backend: StateBackend = self._config.state_backend.create()
        return backend


def _schema_header(format_: PluginRef | None, *, is_key: bool) -> str | None:
    created: Format | None = None if format_ is None else format_.create()
    return None if created is None else created.schema_header(is_key=is_key)


class _OpenTable(NamedTuple):
    """A partition of a table in one task.

    Attributes:
        offsets: What the task reads of it.
        files: Its durable files.
        column: The name of the column that holds what is kept of rows.
        normalizer: Turns its messages into changes.
        state: Its state at the beginning of the range, and the changes since then.
        spool: Collects the changes; None where an earlier attempt has written them.
    """

    offsets: OffsetRange
    files: StateFiles
    column: str
    normalizer: Normalizer
    state: KeyedState
    spool: ChangeSpool | None

    def replay(self) -> Iterator[pa.RecordBatch]:
        """Yield the changes that an earlier attempt has read."""
        partition, start, end = self.offsets.partition, self.offsets.start, self.offsets.end
        for batch in self.files.read_changes(partition, start, end):
            check_layout(batch, self.column)
            yield self.normalizer.replay(batch, self.state)

    def finish(self) -> None:
        """Make the changes durable."""
        if self.spool is not None:
            self.spool.finish()
            partition, start, end = self.offsets.partition, self.offsets.start, self.offsets.end
            self.files.write_changes(partition, start, end, self.spool.file)
