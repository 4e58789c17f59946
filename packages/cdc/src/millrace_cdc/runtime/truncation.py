"""Deletions of all rows of a table, as by TRUNCATE: the sink's table is emptied, or the log says that it is not."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import functions as fn

from millrace.errors import SchemaError
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.planning import TablePlanner
from millrace_cdc.runtime.schema_state import SchemaState
from millrace_cdc.runtime.sink_derivation import EvolutionSettings
from millrace_cdc.runtime.task_reports import Place, TaskFindings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TYPE = "truncate.table"

logger = logging.getLogger("millrace.pipelines")


class Truncation(NamedTuple):
    """The last deletion of all rows of a source's table within a micro-batch.

    Attributes:
        table: The id of the table.
        place: The place of its message.
        targets: The ids of the sink's tables that are emptied.
    """

    table: str
    place: Place
    targets: tuple[str, ...]


class TruncationPolicy:
    """Decide which tables of the sink are emptied.

    The decision follows from rules and options alone, so that it is the same wherever micro-batches end. Messages that
    contradict it, by a second partition or another table with the same target, end the pipeline.

    Args:
        settings: Settings of schema evolution.
        planner: Plans the sink's tables.
        parser: Settings of the parser.
    """

    def __init__(self, settings: EvolutionSettings, planner: TablePlanner, parser: ParserSettings) -> None:
        self._settings = settings
        self._planner = planner
        self._parser = parser

    def noted(self, state: SchemaState, reports: Iterable[TaskFindings]) -> SchemaState:
        """Return the state after a micro-batch with its truncations.

        Args:
            state: The state without them.
            reports: The reports of the micro-batch's tasks.

        Raises:
            SchemaError: The changes of a truncated table have no order, or its rows are not the only ones of a target.
        """
        if self._general_obstacle() is not None:
            return replace(state, truncations={}, partitions={})
        reports = tuple(reports)
        last = {table: place for table, place in _last_places(reports).items() if self._obstacle(table) is None}
        places, partitions = {**state.truncations, **last}, dict(state.partitions)
        for report in reports:
            for table, table_report in report.tables.items():
                seen = table_report.partitions | {place[:2] for place in table_report.truncations}
                partitions[table] = partitions.get(table, frozenset()) | seen
        truncated = state.truncated | (places.keys() & state.sources.keys())
        after = replace(state, truncations=places, partitions=partitions, truncated=truncated)
        for table in sorted(truncated):
            self._check(table, after)
        return after

    def applied(self, state: SchemaState, reports: Iterable[TaskFindings]) -> tuple[Truncation, ...]:
        """Return the truncations of a micro-batch that empty tables; warn of each of the others.

        Args:
            state: The state after the micro-batch.
            reports: The reports of its tasks.

        Raises:
            SchemaError: One cannot be applied, and the pipeline must not go on without.
        """
        for table, place in sorted(_last_places(reports).items()):
            reason = self._obstacle(table)
            if reason is not None:
                self._report_kept(table, place, reason)
        return tuple(
            Truncation(table, place, self._planner.targets(table))
            for table, place in sorted(state.truncations.items())
            if table in state.sources and table not in state.paused and self._obstacle(table) is None
        )

    def _report_kept(self, table: str, place: Place, reason: str) -> None:
        problem = f"table {table!r} was truncated at {place}, but the sink keeps its rows: {reason}"
        if self._settings.behavior in ("evolve", "exception") and _TYPE in self._settings.accepted:
            raise SchemaError(f"{problem}. To continue without it, exclude truncate.table")
        logger.warning("%s", problem)

    def _obstacle(self, table: str) -> str | None:
        reason = self._general_obstacle()
        if reason is None and self._planner.may_share_targets(table):
            return "its route may bring rows of other tables to the same table"
        return reason

    def _general_obstacle(self) -> str | None:
        settings = self._settings
        if settings.behavior == "exception":
            return "'schema.change.behavior' is exception"
        if settings.behavior == "ignore" or _TYPE not in settings.accepted:
            return f"{_TYPE} is not included in its schema changes"
        if _TYPE not in settings.supported:
            return f"it cannot apply {_TYPE}"
        if self._parser.has_distributed_tables:
            return "its changes may be in several partitions, so that nothing says which came before"
        return None

    def _check(self, table: str, state: SchemaState) -> None:
        if self._obstacle(table) is not None:
            return
        partitions = state.partitions.get(table, frozenset())
        if len(partitions) > 1:
            names = ", ".join(f"{topic}-{partition}" for topic, partition in sorted(partitions))
            raise SchemaError(
                f"table {table!r} was truncated, and its changes are in several partitions ({names}), so that nothing "
                f"says which came before: set '{self._parser.format}.distributed-tables' to true, or exclude "
                f"truncate.table, to keep its rows"
            )
        targets = self._planner.targets_of([table])
        others = [other for other in state.sources if other != table and targets & self._planner.targets_of([other])]
        if others:
            raise SchemaError(
                f"table {table!r} was truncated, and rows of {min(others)!r} go to the same table, too: give one of "
                f"them another table by a route, or exclude truncate.table to keep the rows"
            )


def _last_places(reports: Iterable[TaskFindings]) -> dict[str, Place]:
    """Return the place of the last truncation of each table that has one."""
    places: dict[str, Place] = {}
    for report in reports:
        for table, table_report in report.tables.items():
            for place in table_report.truncations:
                places[table] = max(place, places.get(table, place))
    return places


def without_truncated(changes: DataFrame, truncations: Iterable[Truncation]) -> DataFrame:
    """Leave out the changes that came before the deletion of all rows."""
    for table, (topic, partition, offset), _ in truncations:
        same = (fn.col("table") == table) & (fn.col("topic") == topic) & (fn.col("partition") == partition)
        changes = changes.where(~same | (fn.col("offset") > offset))
    return changes
