"""Parse messages into changes of tables, on the executors: columns in, columns out.

The rows of a change keep the JSON that they had; they are converted to the table's columns later, when all tasks have
reported theirs. The last record of a task is its report: what it has found out about tables.
"""

from __future__ import annotations

import itertools
import pickle
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Literal

import pyarrow as pa

from millrace.change_dialects import SkipReason
from millrace.contracts import DeadLetter
from millrace.errors import MalformedMessageError, SchemaError
from millrace.monitoring.malformed_runs import MalformedRuns
from millrace_catalog.evolution import SchemaTracker
from millrace_catalog.inference import (
    Observation,
    Position,
)
from millrace_catalog.inference.declared_types import DeclaredTypes
from millrace_catalog.inference.observation import TableChange
from millrace_catalog.types import Column, DataType, Schema
from millrace_cdc.rows import change_encoding, exact_json
from millrace_cdc.rows.change_records import CHANGE_SCHEMA, ChangeColumns, is_text, repeated_values
from millrace_cdc.runtime.dead_letters import DeadLetters, paused_letter
from millrace_cdc.runtime.extra_columns import ExtraColumnReader, MalformedKeyError, Message
from millrace_cdc.runtime.fast_parser import fast_parser
from millrace_cdc.runtime.malformed_rows import MALFORMED_COLUMNS, malformed_message, malformed_row
from millrace_cdc.runtime.message_keys import MessageKeys
from millrace_cdc.runtime.message_rows import ChangeReader, MessageRow
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.partial_updates import check_update
from millrace_cdc.runtime.schema_headers import IN_PAYLOADS, MessageSchemas, with_schema
from millrace_cdc.runtime.table_schema import SourceTableSchema, columns_of
from millrace_cdc.runtime.task_reports import Place, RequiredColumns, TableReport, TaskFindings
from millrace_cdc.runtime.time_columns import times_as_strings


class ChangeParser:
    """Parse the messages of one task.

    Args:
        settings: The settings.
        tables: The tables as they were before, by id.
        paused: By id of a table that is paused, the reason: its messages go to the collector.
    """

    def __init__(
        self, settings: ParserSettings, tables: Mapping[str, SourceTableSchema], paused: Mapping[str, str] | None = None
    ) -> None:
        self._paused = paused or {}
        self._settings = settings
        self._tables = tables
        self._readers: dict[str, ChangeReader] = {}
        self._trackers: dict[str, SchemaTracker] = {}
        self._declared: dict[str, tuple[Schema, DeclaredTypes]] = {}
        self._extra = None if settings.extra.are_none else ExtraColumnReader(settings.extra, settings.options)
        self._fast_parser = (
            fast_parser(settings.options, self._columns_of, upserts=settings.upserts)
            if settings.extra.are_none
            else None
        )
        self._keys = MessageKeys(settings.options) if settings.has_primary_keys else None
        self._replaces_times = not settings.has_times and settings.declares_types
        self._letters = None if settings.collector is None else DeadLetters(settings.collector, settings.client)
        self._message_letters: list[DeadLetter] = []
        self.report = TaskFindings()
        self._rows = settings.message_rows(self.report.skipped)

    def parse(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the changes of messages, with the columns of `CHANGE_COLUMNS`, and the task's report at the end."""
        for batch in batches:
            yield self._parse_batch(batch)
            if self._letters is not None:
                self._letters.collect()
        if self._letters is not None:
            self._letters.finish()
        if self.report != TaskFindings():
            report = pa.array([pickle.dumps(self.report)], pa.binary())
            nulls = [pa.nulls(1, field.type) for field in CHANGE_SCHEMA][:-1]
            yield pa.record_batch([*nulls, report], CHANGE_SCHEMA)

    def _parse_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = ChangeColumns()
        topics, partitions = (repeated_values(batch.column(name)) for name in ("topic", "partition"))
        offsets = batch.column("offset").to_numpy(zero_copy_only=False).tolist()
        values, keys = (batch.column(name).to_numpy(zero_copy_only=False).tolist() for name in ("value", "key"))
        messages = None if self._extra is None else batch.to_pylist()
        schemas = self._settings.schemas_of(batch)
        fast = self._fast_parser if is_text(batch.column("value")) else None
        unreadable = () if fast is None else fast.unreadable(values)
        malformed: set[int] = set()
        for index, value in enumerate(values):
            if fast is not None and value is not None and index not in unreadable:
                parsed = fast.parse(topics[index], value)
                if parsed is not None and (self._keys is None or self._has_known_key(parsed.table, keys[index])):
                    columns.add(index, *parsed)
                    continue
            place = Place(topics[index], partitions[index], offsets[index])
            message = None if messages is None else messages[index]
            malformed_before = self.report.malformed
            for change in self.changes(place, value, keys[index], message, schemas[index] if schemas else IN_PAYLOADS):
                for old, new in change.rows:
                    before, after = (None if image is None else exact_json.encode(image) for image in (old, new))
                    columns.add(index, change.table, change.operation, before, after, change.kept_columns)
            self._keep_letters(batch, index)
            if self.report.malformed > malformed_before:
                malformed.add(index)
        self.report.messages += len(values)
        if self._settings.counts_runs:
            self._count_runs(topics, partitions, offsets, malformed)
        taken = batch if columns.rows == list(range(len(values))) else batch.take(pa.array(columns.rows, pa.int64()))
        self._count(taken, columns.tables)
        return columns.to_batch(taken)

    def changes(
        self,
        place: Place,
        value: bytes | None,
        key: bytes | None = None,
        message: Message | None = None,
        schemas: MessageSchemas = IN_PAYLOADS,
    ) -> list[TableChange]:
        """Parse one message, and note what its tables' columns need; none when it has no rows, several of an array.

        Args:
            place: Its place.
            value: Its value.
            key: Its key, for a collector of malformed messages.
            message: All of it, where rows have columns beside those of values.
            schemas: The schemas that its headers name.

        Raises:
            MessageError: It is malformed, and such messages are not skipped.
            SchemaError: Its table cannot change as it needs.
        """
        reader = self._readers.get(place.topic)
        if reader is None:
            reader = self._readers[place.topic] = self._settings.reader(place.topic)
        try:
            rows = self._rows.parse(reader, value, schemas.value)
            results = (self._read(reader, place, key, row, message, schemas) for row in rows)
            read = [result for result in results if result is not None]
        except MalformedMessageError as error:
            malformed = self._skip_malformed(place, key, value, error)
            read = [] if malformed is None else [(malformed, MALFORMED_COLUMNS)]
        for change, columns in read:
            self._note(place, change, columns)
        return [change for change, _ in read]

    def _read(
        self,
        reader: ChangeReader,
        place: Place,
        key: bytes | None,
        row: MessageRow,
        message: Message | None,
        schemas: MessageSchemas,
    ) -> tuple[TableChange, dict[str, DataType]] | None:
        """Return the change of a row and its columns; None when it is skipped, collected or a truncation."""
        value, change = row
        if isinstance(change, SkipReason):
            self.report.skipped[change] += 1
            return None
        if change.table in self._paused:
            letter = paused_letter(change.table, self._paused, place, key, value, self._settings.format)
            self._message_letters.append(letter)
            self.report.collected[change.table] += 1
            return None
        if change.operation == "t":
            self._note_truncation(place, change.table)
            return None
        check_update(change, self._settings)
        if change.kept_columns:
            self._report(change.table).is_partial = True
        columns = reader.columns_of(change)
        if self._replaces_times:
            columns = times_as_strings(columns)
        change = self._with_primary_key(change, with_schema(schemas.key, key), columns)
        if self._extra is not None and message is not None:
            change, columns = self._extra.add(change, columns, message)
        return change, self._with_declared_types(change, columns)

    def _with_primary_key(self, change: TableChange, key: bytes | None, columns: dict[str, DataType]) -> TableChange:
        """Return a change with the primary key that its message's key has, where such keys are read."""
        if self._keys is None or change.primary_key is not None:
            return change
        change, problem = self._keys.add(change, key, columns, self._primary_key(change.table))
        if problem:
            self._report(change.table).key_problem = problem
        return change

    def _with_declared_types(self, change: TableChange, columns: dict[str, DataType]) -> dict[str, DataType]:
        table = self._tables.get(change.table)
        # Sources of rows with types declare these themselves, and change them
        if table is None or not table.declared or self._settings.format == change_encoding.FORMAT:
            return columns
        tracker = self._trackers.get(change.table)
        schema = columns_of(table) if tracker is None else tracker.schema
        known = self._declared.get(change.table)
        if known is None or known[0] is not schema:
            types = schema.types
            known = self._declared[change.table] = schema, DeclaredTypes({name: types[name] for name in table.declared})
        return known[1].keep(columns, itertools.chain.from_iterable(change.rows))

    def _skip_malformed(
        self, place: Place, key: bytes | None, value: bytes | None, error: MalformedMessageError
    ) -> TableChange | None:
        """Count and collect a message; return the row of the table of malformed ones, where there is one."""
        if self._settings.options.ignore_parse_errors:
            self.report.skipped[SkipReason.IGNORED] += 1
            return None
        is_key = isinstance(error, MalformedKeyError)
        if not self._settings.skips_malformed:
            shown = key if is_key else value
            raise malformed_message(self._settings.format, place, str(error), shown) from error
        self.report.malformed += 1
        if self._settings.malformed_table is not None:
            return malformed_row(self._settings.malformed_table, place, key, value, str(error))
        part: Literal["key", "value"] = "key" if is_key else "value"
        letter = DeadLetter(*place, None, key, value, (), part, self._settings.format, str(error))
        self._message_letters = [letter]
        return None

    def _keep_letters(self, messages: pa.RecordBatch, row: int) -> None:
        if self._letters is not None:
            for letter in self._message_letters:
                self._letters.add(letter, messages, row)
        self._message_letters = []

    def _count_runs(
        self, topics: Sequence[str], partitions: Sequence[int], offsets: Sequence[int], malformed: Container[int]
    ) -> None:
        """Count malformed messages one after another, partition by partition."""
        rows: dict[tuple[str, int], list[int]] = {}
        for index, partition in enumerate(zip(topics, partitions, strict=True)):
            rows.setdefault(partition, []).append(index)
        for partition, indexes in rows.items():
            runs = MalformedRuns.of([index in malformed for index in indexes])
            self.report.runs[partition, offsets[indexes[0]]] = runs

    def _note_truncation(self, place: Place, table: str) -> None:
        report = self._report(table)
        report.truncations = [truncation for truncation in report.truncations if truncation[:2] != place[:2]] + [place]

    def _note(self, place: Place, change: TableChange, columns: dict[str, DataType]) -> None:
        report = self._report(change.table)
        report.fits = False
        if change.table not in self._trackers:
            self._trackers[change.table] = self._tracker(change.table)
        observation = Observation(change.table, columns, change.primary_key)
        try:
            changes = self._trackers[change.table].observe(observation, Position(place.partition, place.offset))
        except SchemaError as error:
            reason = f"topic {place.topic!r}: {error}"
            if not self._settings.pauses:
                raise SchemaError(reason) from None
            # The driver pauses the table, and collects all of its messages
            self.report.failed.setdefault(change.table, (place, reason))
            return
        if changes:
            report.required.append(RequiredColumns(place, _to_sql(columns), change.primary_key))
            if self._fast_parser is not None:
                self._fast_parser.clear()

    def _report(self, table: str) -> TableReport:
        report = self.report.tables.get(table)
        if report is None:
            report = self.report.tables[table] = TableReport()
        return report

    def _columns_of(self, table: str) -> str | None:
        """Return the columns of a table after the messages that this task has parsed, as SQL."""
        if table in self._paused:
            return None
        tracker, schema = self._trackers.get(table), self._tables.get(table)
        return str(tracker.schema) if tracker is not None else None if schema is None else schema.columns

    def _primary_key(self, table: str) -> tuple[str, ...] | None:
        """Return the primary key of a table after the messages that this task has parsed; None for a new one."""
        known = self._trackers.get(table) or self._tables.get(table)
        return None if known is None else known.primary_key

    def _has_known_key(self, table: str, key: bytes | None) -> bool:
        """Return whether a message has the key of its table, so that inference need not look at it."""
        known = self._tables.get(table)
        return self._keys is not None and known is not None and self._keys.fit(key, known.primary_key)

    def _tracker(self, table: str) -> SchemaTracker:
        tracker = SchemaTracker(table, self._settings.strategy, self._settings.max_columns)
        schema = self._tables.get(table)
        if schema is not None:
            tracker.create(columns_of(schema), schema.primary_key)
        return tracker

    def _count(self, messages: pa.RecordBatch, tables: list[str]) -> None:
        """Count changes by the tables that they belong to; each has its message."""
        times, topics, partitions = (messages.column(name) for name in ("timestamp", "topic", "partition"))
        last = dict(zip(tables, range(len(tables)), strict=True))
        for table, number in Counter(tables).items():
            report, index = self._report(table), last[table]
            report.rows += number
            report.partitions.add((topics[index].as_py(), partitions[index].as_py()))
            time = times[index].as_py()
            if time is not None and (report.newest is None or time > report.newest):
                report.newest = time


def parse_stage(
    settings: ParserSettings, tables: Mapping[str, SourceTableSchema], paused: Mapping[str, str]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function of a task, for mapInArrow."""
    return lambda batches: ChangeParser(settings, tables, paused).parse(batches)


def _to_sql(columns: Mapping[str, DataType]) -> str:
    return str(Schema(tuple(Column(name, type_) for name, type_ in columns.items())))
