"""Merge what messages need into the schemas of a pipeline's tables, on the driver."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Literal

from millrace.errors import MillraceError, SchemaError
from millrace_catalog.evolution import SchemaTracker
from millrace_catalog.inference import Observation, Position
from millrace_catalog.types import parse_schema
from millrace_cdc.errors import PipelineError
from millrace_cdc.runtime.planning import TablePlanner
from millrace_cdc.runtime.schema_state import SchemaState
from millrace_cdc.runtime.sink_derivation import EvolutionSettings, SinkDerivation
from millrace_cdc.runtime.task_reports import RequiredColumns, TaskFindings

logger = logging.getLogger("millrace.pipelines")


class SchemaEvolution:
    """Evolve the schemas of a pipeline.

    Args:
        settings: The settings.
        planner: Plans the sink's tables.
        pauses: Whether a table that cannot change is paused; by default it is an error.
    """

    def __init__(self, settings: EvolutionSettings, planner: TablePlanner, *, pauses: bool = False) -> None:
        self._pauses = pauses
        self._settings = settings
        self._planner = planner
        self._limit = settings.max_columns
        self._reported: set[str] = set()

    def evolve(
        self,
        state: SchemaState,
        reports: Iterable[TaskFindings],
        *,
        initial: bool = False,
        resumed: Iterable[str] = (),
    ) -> SchemaState:
        """Return the state after a micro-batch, by the rules of today; ``state`` stays what it is.

        Args:
            state: The state before the micro-batch.
            reports: The reports of the micro-batch's tasks.
            initial: Whether these are the messages that make the first schemas, also with a static strategy.
            resumed: The ids of tables that were paused and go on.

        Raises:
            SchemaError: A table cannot change as messages need, or must not.
        """
        reports = tuple(reports)
        derivation = self.derivation(state)
        after = derivation.state
        after.malformed = state.malformed + sum(report.malformed for report in reports)
        failed = sorted(
            (place, table, reason) for report in reports for table, (place, reason) in report.failed.items()
        )
        for _, table, reason in failed:
            after.paused.setdefault(table, reason)
        changed = self._observe(state, after, reports, "continuous" if initial else self._settings.strategy)
        resuming = [table for table in resumed if table in after.sources and table not in after.paused]
        for table in dict.fromkeys([*changed, *resuming, *derivation.outdated()]):
            try:
                derivation.derive(table)
            except (SchemaError, PipelineError) as error:
                self._fail(state, after, table, error)
        self.report(derivation)
        return after

    def report(self, derivation: SinkDerivation) -> None:
        """Log the notes of a derivation, each once."""
        for note in derivation.notes:
            if note not in self._reported:
                self._reported.add(note)
                logger.warning("%s", note)

    def derivation(self, state: SchemaState) -> SinkDerivation:
        """Return what derives the sink's tables of a state."""
        return SinkDerivation(self._settings, self._planner, state)

    def _observe(
        self,
        before: SchemaState,
        after: SchemaState,
        reports: Iterable[TaskFindings],
        strategy: Literal["continuous", "static"],
    ) -> list[str]:
        """Change the source's tables in place, and return those that have changed."""
        required = [
            (columns.place, table, columns)
            for report in reports
            for table, table_report in report.tables.items()
            for columns in table_report.required
        ]
        changed: dict[str, None] = {}
        for place, table, columns in sorted(required, key=lambda item: item[:2]):
            if table in after.paused:
                continue
            if table not in changed:
                changed[table] = None
                after.sources[table] = _copy(before.sources.get(table), table, strategy, self._limit)
            try:
                after.sources[table].observe(observation_of(table, columns), Position(place.partition, place.offset))
            except SchemaError as error:
                self._fail(before, after, table, SchemaError(f"topic {place.topic!r}: {error}"))
        return [table for table in changed if table not in after.paused]

    def _fail(self, before: SchemaState, after: SchemaState, table: str, error: MillraceError) -> None:
        """Pause a table that cannot change as its messages need; it keeps the columns that it had.

        Raises:
            MillraceError: Tables are not paused.
        """
        if not self._pauses:
            raise error from None
        after.paused[table] = str(error)
        if table in before.sources:
            after.sources[table] = before.sources[table]
        else:
            del after.sources[table]


def _copy(
    tracker: SchemaTracker | None, table: str, strategy: Literal["continuous", "static"], max_columns: int
) -> SchemaTracker:
    if tracker is None:
        return SchemaTracker(table, strategy, max_columns)
    return SchemaTracker.restore(tracker.state(), strategy, max_columns)


def observation_of(table: str, required: RequiredColumns) -> Observation:
    """Return the columns that a message needs as an observation of its table."""
    return Observation(table, parse_schema(required.columns).types, required.primary_key)
