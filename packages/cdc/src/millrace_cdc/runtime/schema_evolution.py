"""Merge what messages need into the schemas of a pipeline's tables, on the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from millrace.contracts import SchemaChangeType
from millrace.errors import MillraceError, SchemaError
from millrace_catalog.evolution import AddColumns, AlterColumnTypes, CreateTable, SchemaChange, SchemaTracker
from millrace_catalog.evolution.type_fit import fitting_type
from millrace_catalog.inference import Observation, Position
from millrace_catalog.types import DataType, parse_schema
from millrace_cdc.definitions.pipeline_options import SchemaChangeBehavior
from millrace_cdc.errors import PipelineError
from millrace_cdc.runtime.planning import TablePlan, TablePlanner
from millrace_cdc.runtime.schema_state import SchemaState
from millrace_cdc.runtime.task_reports import RequiredColumns, TaskReport


@dataclass(frozen=True)
class EvolutionSettings:
    """Settings of schema evolution.

    Attributes:
        behavior: ``schema.change.behavior`` of the pipeline.
        accepted: The types of changes that the sink gets: included and not excluded.
        supported: The types of changes that the sink can apply.
        strategy: ``continuous``, or ``static`` for tables that keep their first columns.
        max_columns: Maximum number of columns of a table.
        can_widen: Tells whether the sink can make one type of a column another.
    """

    behavior: SchemaChangeBehavior
    accepted: frozenset[SchemaChangeType]
    supported: frozenset[SchemaChangeType]
    strategy: Literal["continuous", "static"] = "continuous"
    max_columns: int = 2_000
    can_widen: Callable[[DataType, DataType], bool] = lambda *_: True


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

    def evolve(self, state: SchemaState, reports: Iterable[TaskReport], *, initial: bool = False) -> SchemaState:
        """Return the state after a micro-batch; ``state`` stays what it is.

        Args:
            state: The state before the micro-batch.
            reports: The reports of the micro-batch's tasks.
            initial: Whether these are the messages that make the first schemas, also with a static strategy.

        Raises:
            SchemaError: A table cannot change as messages need, or must not.
        """
        reports = tuple(reports)
        after = replace(state, sources=dict(state.sources), sinks=dict(state.sinks), paused=dict(state.paused))
        after.malformed = state.malformed + sum(report.malformed for report in reports)
        failed = sorted((place, table, reason) for each in reports for table, (place, reason) in each.failed.items())
        for _, table, reason in failed:
            after.paused.setdefault(table, reason)
        changed = self._observe(state, after, reports, "continuous" if initial else self._settings.strategy)
        copied: set[str] = set()
        for table in changed:
            sinks = self._copies(after, table) if self._pauses else {}
            try:
                self.derive(after, table, copied)
            except (SchemaError, PipelineError) as error:
                self._fail(state, after, table, error)
                # Some of the sink's tables may have changed already
                after.sinks.update({name: tracker for name, tracker in sinks.items() if tracker is not None})
                for name in [name for name, tracker in sinks.items() if tracker is None]:
                    after.sinks.pop(name, None)
                    copied.discard(name)
        return after

    def _copies(self, state: SchemaState, table: str) -> dict[str, SchemaTracker | None]:
        """Copy the sink's tables that the rows of one of the source's go to; None for those that are not there yet."""
        try:
            targets = self._planner.targets(table)
        except SchemaError:
            return {}
        found = {name: state.sinks.get(name) for name in targets}
        return {
            name: None if tracker is None else _copy(tracker, name, "continuous", self._limit)
            for name, tracker in found.items()
        }

    def _observe(
        self,
        before: SchemaState,
        after: SchemaState,
        reports: Iterable[TaskReport],
        strategy: Literal["continuous", "static"],
    ) -> list[str]:
        """Change the source's tables in place, and return those that have changed."""
        required = [
            (each.place, table, each)
            for report in reports
            for table, found in report.tables.items()
            for each in found.required
        ]
        changed: dict[str, None] = {}
        for place, table, each in sorted(required, key=lambda item: item[:2]):
            if table in after.paused:
                continue
            if table not in changed:
                changed[table] = None
                after.sources[table] = _copy(before.sources.get(table), table, strategy, self._limit)
            try:
                after.sources[table].observe(observation_of(table, each), Position(place.partition, place.offset))
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

    def derive(self, state: SchemaState, table: str, copied: set[str]) -> None:
        """Change the sink's tables as one of the source's needs, in place.

        Args:
            state: The state.
            table: The id of the source's table.
            copied: The ids of the sink's tables that have been copied before a change.

        Raises:
            SchemaError: They cannot change so, or must not.
        """
        source = state.sources[table]
        plan = self._planner.plan(table, source.schema, source.primary_key)
        cause = source.changes()[-1].cause
        for target in plan.targets:
            if target not in copied:
                copied.add(target)
                state.sinks[target] = _copy(state.sinks.get(target), target, "continuous", self._limit)
            self._derive_target(state.sinks[target], plan, cause)

    def _derive_target(self, sink: SchemaTracker, plan: TablePlan, cause: Position | None) -> None:
        settings = self._settings
        if not sink.version:
            sink.create(plan.columns, plan.primary_key or (), cause)
            return
        required = self._accepted_columns(plan.columns.types, sink.schema.types)
        for change in sink.observe(Observation(sink.table, required, plan.primary_key), cause):
            type_ = change_type(change)
            if settings.behavior == "exception":
                raise SchemaError(f"{_describe(change)}, and 'schema.change.behavior' is exception")
            if type_ not in settings.supported:
                raise SchemaError(
                    f"{_describe(change)}, which the sink cannot apply ({type_}): set 'schema.change.behavior' to "
                    f"lenient or try_evolve to continue without it, or exclude it"
                )
            if isinstance(change, AlterColumnTypes):
                self._check_types(change)

    def _accepted_columns(
        self, required: Mapping[str, DataType], current: Mapping[str, DataType]
    ) -> dict[str, DataType]:
        """Leave out what the pipeline must not change."""
        settings = self._settings
        refused = settings.behavior == "ignore"
        tolerant = settings.behavior in ("lenient", "try_evolve")

        def may(type_: SchemaChangeType) -> bool:
            return not refused and type_ in settings.accepted and (not tolerant or type_ in settings.supported)

        def altered(before: DataType | None, type_: DataType) -> DataType:
            is_kept = before is None or not may_alter or (tolerant and not self._can_widen(before, type_))
            return (before or type_) if is_kept else type_

        may_add, may_alter = may("add.column"), may("alter.column.type")
        return {
            name: altered(current.get(name), type_) for name, type_ in required.items() if may_add or name in current
        }

    def _can_widen(self, before: DataType, required: DataType) -> bool:
        after = fitting_type(before, required)
        return after == before or self._settings.can_widen(before, after)

    def _check_types(self, change: AlterColumnTypes) -> None:
        for each in change.columns:
            if not self._settings.can_widen(each.before, each.after):
                raise SchemaError(
                    f"{_describe(change)}, and the sink cannot change {each.before} to {each.after}: set "
                    f"'schema.change.behavior' to lenient or try_evolve to continue without it, or give the "
                    f"wider type from the start, by CAST in a projection or the source's initial schemas"
                )


def _copy(
    tracker: SchemaTracker | None, table: str, strategy: Literal["continuous", "static"], max_columns: int
) -> SchemaTracker:
    if tracker is None:
        return SchemaTracker(table, strategy, max_columns)
    return SchemaTracker.restore(tracker.state(), strategy, max_columns)


def change_type(change: SchemaChange) -> SchemaChangeType:
    """Return the type of a change."""
    if isinstance(change, CreateTable):
        return "create.table"
    return "add.column" if isinstance(change, AddColumns) else "alter.column.type"


def observation_of(table: str, required: RequiredColumns) -> Observation:
    """Return the columns that a message needs as an observation of its table."""
    return Observation(table, parse_schema(required.columns).types, required.primary_key)


def _describe(change: SchemaChange) -> str:
    if isinstance(change, AlterColumnTypes):
        columns = ", ".join(f"{each.name} from {each.before} to {each.after}" for each in change.columns)
        return f"table {change.table!r} must change types: {columns}"
    return f"table {change.table!r} must get columns: {', '.join(map(str, change.columns))}"
