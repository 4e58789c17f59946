"""Steps of a micro-batch, on the driver: parse, report, evolve, store, apply, write, count."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from millrace.contracts import PipelineSink
from millrace_cdc.rows.change_records import CHANGE_COLUMNS
from millrace_cdc.runtime.change_parser import parse_stage
from millrace_cdc.runtime.change_writing import ChangeWriter, ParsedChanges
from millrace_cdc.runtime.malformed_limits import MalformedCounts, MalformedLimits
from millrace_cdc.runtime.message_keys import KeyWarnings
from millrace_cdc.runtime.micro_batch_states import MicroBatchStates
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.paused_tables import NO_REQUEST, PauseRequest, collect_tables, without_paused
from millrace_cdc.runtime.pipeline_states import PipelineStates
from millrace_cdc.runtime.planning import TablePlanner
from millrace_cdc.runtime.progress import PartitionOrder, PipelineProgress
from millrace_cdc.runtime.schema_evolution import SchemaEvolution
from millrace_cdc.runtime.schema_state import SchemaState, TableSchemas
from millrace_cdc.runtime.sink_derivation import EvolutionSettings
from millrace_cdc.runtime.sink_retries import SinkRetries
from millrace_cdc.runtime.sink_tables import pending_changes
from millrace_cdc.runtime.table_failures import TableFailures
from millrace_cdc.runtime.task_reports import TaskFindings, read_report
from millrace_cdc.runtime.transforms import RowTransforms
from millrace_cdc.runtime.truncation import TruncationPolicy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

T = TypeVar("T")

logger = logging.getLogger("millrace.pipelines")


@dataclass(frozen=True)
class _MicroBatch:
    """A micro-batch after its messages were parsed.

    Attributes:
        messages: Its messages.
        parsed: Their changes.
        reports: The reports of the tasks that have parsed them.
    """

    messages: DataFrame
    parsed: ParsedChanges
    reports: tuple[TaskFindings, ...]

    def reports_without(self, paused: dict[str, str]) -> list[TaskFindings]:
        """Return the reports without the tables that are paused."""
        return [without_paused(report, paused) for report in self.reports]


class MicroBatches:
    """Bring micro-batches into a sink.

    Args:
        parser: Settings of the parser.
        planner: Plans the sink's tables.
        evolution: Settings of schema evolution.
        sink: The sink.
        states: Keeps the schemas.
        transforms: Transforms rows.
        limits: Limits of the malformed messages that are skipped.
        retries: Retries of the sink.
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
        limits: MalformedLimits,
        retries: SinkRetries,
        request: PauseRequest = NO_REQUEST,
    ) -> None:
        evolving = SchemaEvolution(evolution, planner, pauses=parser.pauses)
        truncations = TruncationPolicy(evolution, planner, parser)
        self._parser = parser
        self._planner = planner
        self._settings = evolution
        self._sink = sink
        self._malformed = MalformedCounts(limits)
        self._retries = retries
        self._tables = TableSchemas()
        self._failures = TableFailures(planner, parser)
        self._states = MicroBatchStates(states, evolving, self._failures, truncations, evolution.rules, request)
        self._writer = ChangeWriter(sink, planner, transforms, truncations, self._tables)
        self._order = PartitionOrder(parser)
        self._keys = KeyWarnings()
        self.progress = PipelineProgress()

    def process(self, messages: DataFrame, batch: int) -> None:
        """Bring one micro-batch into the sink; Spark calls it for each, and again for one that has failed.

        Raises:
            MillraceError: Messages, schemas or the sink do not allow it.
        """
        # 1. The schemas as the micro-batch before has left them
        before = self._states.before(batch)
        # 2. One job parses all messages, keeps their changes, and reports what tables need
        with self._parse(messages, before, batch) as micro_batch:
            # 3. The schemas after it are stored before the sink hears of them, so that a repeated one has the same
            state = self._states.after(before, micro_batch.reports, batch)
            self._malformed.add(micro_batch.reports, state.malformed)
            self._collect(micro_batch, before, state)
            # 4. The sink's tables change before the rows that need it
            state, changes = self._without_failing_tables(micro_batch, state, self._apply, is_change=True)
            # 5. The rows of all tables
            state, written = self._without_failing_tables(micro_batch, state, self._write, is_change=False)
        # 6. The next one begins with these schemas
        self._states.finish(state)
        self._order.check(written)
        self._keys.check(written, {name: tracker.primary_key for name, tracker in state.sources.items()})
        self.progress.count(state, written, changes)

    @contextmanager
    def _parse(self, messages: DataFrame, before: SchemaState, batch: int) -> Iterator[_MicroBatch]:
        """Parse the messages; their changes are kept for the ``with`` block."""
        tables = self._tables.of(before.sources)
        stage = parse_stage(self._parser, tables, before.paused)
        persisted = messages.select(*self._parser.source_columns).mapInArrow(stage, CHANGE_COLUMNS).persist()
        try:
            rows = persisted.where("report IS NOT NULL").collect()
            reports = tuple(read_report(bytes(row.report)) for row in rows)
            changes = persisted.where("report IS NULL").drop("report")
            yield _MicroBatch(messages, ParsedChanges(batch, changes, tables), reports)
        finally:
            persisted.unpersist()

    def _apply(self, micro_batch: _MicroBatch, state: SchemaState) -> int:
        """Apply schema changes, and return their number."""
        changes = pending_changes(state, self._planner, self._settings.accepted)
        if changes:
            self._sink.apply(micro_batch.messages.sparkSession, changes)
        return len(changes)

    def _write(self, micro_batch: _MicroBatch, state: SchemaState) -> list[TaskFindings]:
        """Write the changes, and return the reports about them."""
        reports = micro_batch.reports_without(state.paused)
        self._writer.write(micro_batch.parsed, state, reports, self.progress)
        return reports

    def _without_failing_tables(
        self,
        micro_batch: _MicroBatch,
        state: SchemaState,
        step: Callable[[_MicroBatch, SchemaState], T],
        *,
        is_change: bool,
    ) -> tuple[SchemaState, T]:
        """Take a step; where a table fails and is paused for it, take the step again without this table.

        While the sink is away, the step is taken again and again.

        Returns:
            The state without the tables that have failed, and what the step has returned.
        """
        while True:
            try:
                return state, self._retries.run(partial(step, micro_batch, state))
            except Exception as error:
                before, state = state, self._failures.pause(state, error, is_change=is_change)
            self._states.amend(micro_batch.parsed.batch, state)
            self._collect_paused(micro_batch, before, state)

    def _collect(self, micro_batch: _MicroBatch, before: SchemaState, state: SchemaState) -> None:
        """Count the messages of paused tables, and collect those of tables that this micro-batch pauses."""
        for report in micro_batch.reports:
            self.progress.collected.update(report.collected)
        self._collect_paused(micro_batch, before, state)

    def _collect_paused(self, micro_batch: _MicroBatch, before: SchemaState, state: SchemaState) -> None:
        """Hand the messages of tables to the collector that this micro-batch is the first to pause."""
        names = {name for report in micro_batch.reports for name in (*report.tables, *report.failed)}
        paused = {name: state.paused[name] for name in names & (state.paused.keys() - before.paused.keys())}
        if paused:
            for name, reason in paused.items():
                logger.error("table %r is paused, and its messages go to the collector of dirty data: %s", name, reason)
            self.progress.collected.update(collect_tables(micro_batch.messages, self._parser, paused))
        self.progress.paused = dict(state.paused)
