"""Derive the sink's tables from the source's, by the rules and the settings of schema evolution."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from millrace.contracts import SchemaChangeType
from millrace.errors import SchemaError
from millrace_catalog.evolution import AddColumns, AlterColumnTypes, SchemaChange, SchemaTracker, TableCreation
from millrace_catalog.evolution.type_fit import fitting_type
from millrace_catalog.inference import Observation, Position
from millrace_catalog.types import DataType
from millrace_catalog.types.identifiers import quote_name
from millrace_catalog.types.letter_case import names_differing_in_case
from millrace_cdc.definitions.pipeline_options import SchemaChangeBehavior
from millrace_cdc.runtime.planning import TablePlan, TablePlanner
from millrace_cdc.runtime.schema_state import SchemaState


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
        rules: The digest of the rules that make the sink's tables of the source's: see `rules_digest`.
        distinguishes_case: Whether the sink tells names apart that differ only in case.
    """

    behavior: SchemaChangeBehavior
    accepted: frozenset[SchemaChangeType]
    supported: frozenset[SchemaChangeType]
    strategy: Literal["continuous", "static"] = "continuous"
    max_columns: int = 2_000
    can_widen: Callable[[DataType, DataType], bool] = lambda *_: True
    rules: str = ""
    distinguishes_case: bool = False


class SinkDerivation:
    """Derive the sink's tables of a state; runs and plans do it by this class.

    Where other rules have made the tables, they are derived anew from those that the sink has: tables, columns and
    types that it has not got yet come only if the rules of today need them.

    Args:
        settings: The settings of schema evolution.
        planner: Plans the sink's tables.
        before: The state to begin with; it stays what it is.

    Attributes:
        state: A copy of the state, whose sink's tables `derive` changes.
        notes: Sentences about columns that other rules have, and the sink's tables do not get, and about primary keys
            that tables cannot have.
    """

    def __init__(self, settings: EvolutionSettings, planner: TablePlanner, before: SchemaState) -> None:
        self._settings = settings
        self._planner = planner
        self._has_other_rules = before.rules != settings.rules
        sinks, unapplied = before.sinks, before.unapplied
        if self._has_other_rules:
            # What a millrace without digests has stored may be right already: it only gets what it lacks
            sinks = applied_tables(before) if before.rules else sinks
            unapplied = unapplied & planner.targets_of(before.paused)
        self.notes: list[str] = []
        self._before = before
        self.state = replace(
            before,
            sources=dict(before.sources),
            sinks=dict(sinks),
            paused=dict(before.paused),
            unapplied=unapplied,
            rules=settings.rules,
        )
        self._may_get_key = frozenset(sinks) if self._has_other_rules else frozenset()

    def outdated(self) -> list[str]:
        """Return the ids of the source's tables that other rules were for; those that are paused come later."""
        state = self.state
        return [table for table in state.sources if table not in state.paused] if self._has_other_rules else []

    def derive(self, table: str) -> None:
        """Change the sink's tables as one of the source's needs, all of them or none.

        Args:
            table: The id of the source's table.

        Raises:
            SchemaError: They cannot change so, or must not.
            PipelineError: A rule does not fit the table.
        """
        source = self.state.sources[table]
        plan = self._planner.plan(table, source.schema, source.primary_key)
        # Where messages have changed nothing, rules are the cause
        is_changed = self._before.sources.get(table) is not source
        cause = source.changes()[-1].cause if is_changed else None
        derived = {target: self._copy(target) for target in plan.targets}
        for sink in derived.values():
            self._derive_target(sink, plan, cause)
            self._check_case(sink)
        self.state.sinks.update(derived)
        self.notes += plan.notes
        if self._has_other_rules:
            self.notes += (note for sink in derived.values() for note in _left_out(plan, sink))

    def _copy(self, target: str) -> SchemaTracker:
        tracker = self.state.sinks.get(target)
        return SchemaTracker(target, max_columns=self._settings.max_columns) if tracker is None else tracker.copy()

    def _derive_target(self, sink: SchemaTracker, plan: TablePlan, cause: Position | None) -> None:
        settings = self._settings
        if not sink.version:
            sink.create(plan.columns, plan.primary_key or (), cause)
            return
        required = self._accepted_columns(plan.columns.types, sink.schema.types)
        gets_key = bool(plan.primary_key) and not sink.primary_key and sink.table in self._may_get_key
        key = None if gets_key else self._kept_key(sink, plan)
        for change in sink.observe(Observation(sink.table, required, key), cause):
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
        if gets_key and plan.primary_key:
            sink.set_primary_key(plan.primary_key)

    def _kept_key(self, sink: SchemaTracker, plan: TablePlan) -> tuple[str, ...] | None:
        """Return the primary key that a table must have had from the start; None where nothing depends on it."""
        key = plan.primary_key
        if self._has_other_rules:
            if key is not None and key != sink.primary_key:
                raise SchemaError(_other_key(sink, key))
        elif key and plan.has_rule_key and not sink.primary_key:
            self.notes.append(_late_key(sink))
            return None
        return key

    def _check_case(self, sink: SchemaTracker) -> None:
        names = None if self._settings.distinguishes_case else names_differing_in_case(sink.schema)
        if names is not None:
            raise SchemaError(
                f"table {sink.table!r} would have the columns {quote_name(names[0])} and {quote_name(names[1])}, which "
                f"differ only in case, so that the sink or its readers take them for the same: leave one of them out, "
                f"or name it otherwise, by a projection"
            )

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
        for column in change.columns:
            if not self._settings.can_widen(column.before, column.after):
                raise SchemaError(
                    f"{_describe(change)}, and the sink cannot change {column.before} to {column.after}: set "
                    f"'schema.change.behavior' to lenient or try_evolve to continue without it, or give the "
                    f"wider type from the start, by CAST in a projection or the source's initial schemas"
                )


def applied_tables(state: SchemaState) -> dict[str, SchemaTracker]:
    """Return the sink's tables as they were before the micro-batch of a state."""
    versions = {name: state.applied.get(name, 0) for name in state.sinks}
    return {name: tracker.copy(versions[name]) for name, tracker in state.sinks.items() if versions[name]}


def _left_out(plan: TablePlan, sink: SchemaTracker) -> Iterator[str]:
    """Yield a sentence about the columns of a plan that a table does not have."""
    names = [name for name in plan.columns.names if name not in sink.schema.types]
    if names:
        yield (
            f"table {sink.table!r} does not get {', '.join(map(repr, names))}: 'schema.change.behavior' or "
            f"'exclude.schema.changes' keeps new columns out, or the sink cannot add any"
        )


def _other_key(sink: SchemaTracker, key: tuple[str, ...]) -> str:
    current, wanted = (f"({', '.join(names)})" if names else "none" for names in (sink.primary_key, key))
    return (
        f"table {sink.table!r} has another primary key: {wanted} instead of {current}; primary keys cannot change: "
        f"give the old one by 'primary-keys', or another 'sink-table' by a route"
    )


def _late_key(sink: SchemaTracker) -> str:
    return (
        f"table {sink.table!r} began without a column that 'primary-keys' of its transform names, so that it has no "
        f"primary key: declare the column in the source's initial schemas, or start with a new checkpoint"
    )


def change_type(change: SchemaChange) -> SchemaChangeType:
    """Return the type of a change."""
    if isinstance(change, TableCreation):
        return "create.table"
    return "add.column" if isinstance(change, AddColumns) else "alter.column.type"


def _describe(change: SchemaChange) -> str:
    if isinstance(change, AlterColumnTypes):
        columns = ", ".join(f"{column.name} from {column.before} to {column.after}" for column in change.columns)
        return f"table {change.table!r} must change types: {columns}"
    return f"table {change.table!r} must get columns: {', '.join(map(str, change.columns))}"
