"""One micro-batch of a pipeline, on the driver."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from millrace.contracts import PipelineSink
from millrace.errors import MessageError
from millrace.pyspark_internals import streaming_query_id
from millrace_cdc.runtime.change_columns import CHANGE_COLUMNS
from millrace_cdc.runtime.change_parser import ParserSettings, TableSchema, parse_stage
from millrace_cdc.runtime.converted_changes import ConvertedChanges
from millrace_cdc.runtime.micro_batch_states import MicroBatchStates
from millrace_cdc.runtime.paused_tables import NO_REQUEST, PauseRequest, collect_tables, without_paused, without_tables
from millrace_cdc.runtime.pipeline_states import PipelineStates
from millrace_cdc.runtime.planning import TablePlanner
from millrace_cdc.runtime.schema_evolution import SchemaEvolution
from millrace_cdc.runtime.schema_state import SchemaState, TableSchemas
from millrace_cdc.runtime.sink_derivation import EvolutionSettings
from millrace_cdc.runtime.sink_tables import pending_changes, pipeline_table
from millrace_cdc.runtime.table_failures import TableFailures
from millrace_cdc.runtime.task_reports import TaskReport, read_report
from millrace_cdc.runtime.transforms import RowTransforms
from millrace_cdc.runtime.truncation import TruncationPolicy, without_truncated
from millrace_cdc.transforms.transform import BoundTransform

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


logger = logging.getLogger("millrace.pipelines")


@dataclass
class TableProgress:
    """The progress of one of the source's tables since the start.

    Attributes:
        rows: The number of its changes.
        newest: The newest timestamp of its messages.
        version: The number of its schema changes.
    """

    rows: int = 0
    newest: datetime | None = None
    version: int = 0


@dataclass
class PipelineProgress:
    """The progress of a pipeline since its start.

    Attributes:
        tables: By id of a source's table.
        schema_changes: The number of schema changes that the sink got.
        malformed: The number of malformed messages that were skipped since the pipeline's first start.
        batches: The number of micro-batches with messages.
        paused: By id of a source's table that is paused, the reason.
        collected: By id of such a table, the number of its messages that went to the collector.
    """

    tables: dict[str, TableProgress] = field(default_factory=dict)
    schema_changes: int = 0
    malformed: int = 0
    batches: int = 0
    paused: dict[str, str] = field(default_factory=dict)
    collected: Counter[str] = field(default_factory=Counter)


class MicroBatches:
    """Bring micro-batches into a sink.

    Args:
        parser: Settings of the parser.
        planner: Plans the sink's tables.
        evolution: Settings of schema evolution.
        sink: The sink.
        states: Keeps the schemas.
        transforms: Transforms rows.
        tolerated: The number of malformed messages that are skipped; None for any.
        request: The tables to pause, and those that go on.
    """

    def __init__(
        self,
        parser: ParserSettings,
        planner: TablePlanner,
        evolution: EvolutionSettings,
        sink: PipelineSink,
        states: PipelineStates,
        transforms: RowTransforms,
        tolerated: int | None,
        request: PauseRequest = NO_REQUEST,
    ) -> None:
        evolving = SchemaEvolution(evolution, planner, pauses=parser.pauses)
        failures = TableFailures(planner, parser)
        self._parser = parser
        self._planner = planner
        self._settings = evolution
        self._sink = sink
        self._states = MicroBatchStates(states, evolving, failures, evolution.rules, request)
        self._transforms = transforms
        self._tolerated = tolerated
        self._truncations = TruncationPolicy(evolution, planner, has_distributed_tables=parser.has_distributed_tables)
        self._texts = TableSchemas()
        self._sink_texts = TableSchemas()
        self._failures = failures
        self._partitions: dict[str, set[tuple[str, int]]] = {}
        self.progress = PipelineProgress()

    def process(self, messages: DataFrame, batch: int) -> None:
        """Bring one micro-batch into the sink; Spark calls it for each, and again for one that has failed.

        Raises:
            MillraceError: Messages, schemas or the sink do not allow it.
        """
        # 1. The schemas as the micro-batch before has left them
        before = self._states.before(batch)
        # 2. One job parses all messages, keeps their changes, and reports what tables need
        tables = self._texts.of(before.sources)
        stage = parse_stage(self._parser, tables, before.paused)
        parsed = messages.select(*self._parser.source_columns).mapInArrow(stage, CHANGE_COLUMNS).persist()
        try:
            reports = [read_report(bytes(row.report)) for row in parsed.where("report IS NOT NULL").collect()]
            # 3. The schemas after it are stored before the sink hears of them, so that a repeated one has the same
            state = self._states.after(before, reports, batch)
            self._check_malformed(state)
            for report in reports:
                self.progress.collected.update(report.collected)
            self._collect_paused(messages, before, state, reports)

            def pause(state: SchemaState, error: Exception, *, is_change: bool) -> SchemaState:
                after = self._failures.pause(state, error, is_change=is_change)
                self._states.amend(batch, after)
                self._collect_paused(messages, state, after, reports)
                return after

            # 4. The sink's tables change before the rows that need it
            state, changes = self._apply(messages, state, pause)
            # 5. The rows of all tables
            while True:
                kept = [without_paused(report, state.paused) for report in reports]
                try:
                    self._write(parsed.where("report IS NULL").drop("report"), state, kept, tables, batch)
                    break
                except Exception as error:
                    state = pause(state, error, is_change=False)
        finally:
            parsed.unpersist()
        self._states.finish(state)
        self._count(state, kept, changes)

    def _apply(
        self, messages: DataFrame, state: SchemaState, pause: Callable[..., SchemaState]
    ) -> tuple[SchemaState, int]:
        """Apply schema changes; return the state without tables that failed, and the number of changes."""
        while True:
            changes = pending_changes(state, self._planner, self._settings.accepted)
            try:
                if changes:
                    self._sink.apply(messages.sparkSession, changes)
                return state, len(changes)
            except Exception as error:
                state = pause(state, error, is_change=True)

    def _collect_paused(
        self, messages: DataFrame, before: SchemaState, state: SchemaState, reports: Iterable[TaskReport]
    ) -> None:
        """Hand the messages of tables to the collector that this micro-batch is the first to pause."""
        found = {name for report in reports for name in (*report.tables, *report.failed)}
        paused = {name: state.paused[name] for name in found & (state.paused.keys() - before.paused.keys())}
        if paused:
            for name, reason in paused.items():
                logger.error("table %r is paused, and its messages go to the collector of dirty data: %s", name, reason)
            self.progress.collected.update(collect_tables(messages, self._parser, paused))
        self.progress.paused = dict(state.paused)

    def _check_malformed(self, state: SchemaState) -> None:
        if self._tolerated is not None and state.malformed > self._tolerated:
            raise MessageError(
                f"{state.malformed} messages are malformed, more than 'ingestion.error-tolerance.max-count' allows "
                f"({self._tolerated})"
            )

    def _write(
        self,
        parsed: DataFrame,
        state: SchemaState,
        reports: Sequence[TaskReport],
        schemas: Mapping[str, TableSchema],
        batch: int,
    ) -> None:
        fitting = _fitting(schemas, reports)
        truncations = self._truncations.applied(state.sources, reports)
        changes = without_truncated(without_tables(parsed, state.paused), truncations)
        rows: Counter[str] = Counter()
        for report in reports:
            rows.update({name: found.rows for name, found in report.tables.items() if found.rows})
        routes = {table: self._planner.targets(table) for table in sorted(rows)}
        truncated = frozenset(target for each in truncations for target in each.targets)
        if not routes and not truncated:
            return
        found = (target for targets in routes.values() for target in targets)
        names = list(dict.fromkeys((*found, *sorted(truncated))))
        tables = {name: pipeline_table(state.sinks[name].schema, state.sinks[name], self._planner) for name in names}
        columns = self._sink_texts.of(state.sinks, names)
        transforms = self._transforms_of(state, routes)
        sources = self._texts.of(state.sources, transforms)
        same = frozenset(name for name in transforms if fitting.get(name) == sources[name])
        transformed, finish = self._transforms.apply(changes, sources, transforms, same)
        pipeline = streaming_query_id(changes.sparkSession.sparkContext)
        stay = frozenset(
            name
            for name, targets in routes.items()
            if name in fitting
            and name not in transforms
            and all(fitting[name].columns == columns[target].columns for target in targets)
        )
        self._sink.write(
            ConvertedChanges(pipeline, batch, transformed, routes, columns, tables, rows, stay, truncated, finish)
        )

    def _transforms_of(self, state: SchemaState, tables: Iterable[str]) -> dict[str, tuple[BoundTransform, ...]]:
        found = {name: self._planner.transforms(name, state.sources[name].schema) for name in tables}
        return {name: bound for name, bound in found.items() if bound}

    def _see_partitions(self, table: str, found: set[tuple[str, int]]) -> None:
        """Warn once of a table in several partitions, between which the order of its changes is not kept."""
        seen = self._partitions.setdefault(table, set())
        is_new = len(seen) <= 1 < len(seen | found)
        seen |= found
        has_order = table != self._parser.malformed_table
        if is_new and has_order and not self._parser.has_distributed_tables:
            logger.warning(
                "table %r has changes in several partitions, between which their order is not kept: %s. If each row "
                "keeps its partition, set '%s.distributed-tables' to true",
                table,
                ", ".join(f"{topic}-{partition}" for topic, partition in sorted(seen)),
                self._parser.format,
            )

    def _count(self, state: SchemaState, reports: Iterable[TaskReport], schema_changes: int) -> None:
        progress = self.progress
        progress.malformed = state.malformed
        progress.schema_changes += schema_changes
        seen: Mapping[str, object] = {}
        for report in reports:
            seen = report.tables
            for name, found in report.tables.items():
                table = progress.tables.setdefault(name, TableProgress())
                table.rows += found.rows
                table.version = state.sources[name].version if name in state.sources else 0
                self._see_partitions(name, found.partitions)
                if found.newest is not None and (table.newest is None or found.newest > table.newest):
                    table.newest = found.newest
        progress.batches += bool(seen)


def _fitting(tables: Mapping[str, TableSchema], reports: Iterable[TaskReport]) -> dict[str, TableSchema]:
    """Return the tables all of whose rows have the columns that they had before the micro-batch."""
    others = {name for report in reports for name, found in report.tables.items() if not found.fits}
    return {name: table for name, table in tables.items() if name not in others}
