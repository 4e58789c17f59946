"""Deletions of all rows of a table, as by TRUNCATE: the sink's table is emptied, or the log says that it is not."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import functions as fn

from millrace.errors import SchemaError
from millrace_cdc.runtime.planning import TablePlanner
from millrace_cdc.runtime.sink_derivation import EvolutionSettings
from millrace_cdc.runtime.task_reports import Place, TaskReport

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

    Args:
        settings: Settings of schema evolution.
        planner: Plans the sink's tables.
        has_distributed_tables: Whether the changes of a table may be in several partitions.
    """

    def __init__(self, settings: EvolutionSettings, planner: TablePlanner, *, has_distributed_tables: bool) -> None:
        self._settings = settings
        self._planner = planner
        self._is_distributed = has_distributed_tables

    def applied(self, tables: Iterable[str], reports: Iterable[TaskReport]) -> tuple[Truncation, ...]:
        """Return the truncations of a micro-batch that empty tables; warn of each of the others.

        Args:
            tables: The ids of the source's tables that have columns.
            reports: The reports of the micro-batch's tasks.

        Raises:
            SchemaError: One cannot be applied, and the pipeline must not go on without.
        """
        ids = frozenset(tables)
        places, partitions = _last_places(reports)
        applied = []
        for table, place in sorted(places.items()):
            if table not in ids:
                continue  # It has no rows
            reason = self._obstacle(table, partitions[table], ids)
            if reason is None:
                applied.append(Truncation(table, place, self._planner.targets(table)))
                continue
            problem = f"table {table!r} was truncated at {place}, but the sink keeps its rows: {reason}"
            if self._settings.behavior in ("evolve", "exception") and _TYPE in self._settings.accepted:
                raise SchemaError(f"{problem}. To continue without it, exclude truncate.table")
            logger.warning("%s", problem)
        return tuple(applied)

    def _obstacle(self, table: str, partitions: set[tuple[str, int]], ids: frozenset[str]) -> str | None:
        settings = self._settings
        if settings.behavior == "exception":
            return "'schema.change.behavior' is exception"
        if settings.behavior == "ignore" or _TYPE not in settings.accepted:
            return f"{_TYPE} is not included in its schema changes"
        if _TYPE not in settings.supported:
            return f"it cannot apply {_TYPE}"
        if self._is_distributed or len(partitions) > 1:
            return "its changes are in several partitions, so that nothing says which came before"
        targets = set(self._planner.targets(table))
        others = sorted(each for each in ids if each != table and targets & set(self._planner.targets(each)))
        return f"rows of {', '.join(map(repr, others))} are in them too" if others else None


def _last_places(reports: Iterable[TaskReport]) -> tuple[dict[str, Place], Mapping[str, set[tuple[str, int]]]]:
    places: dict[str, Place] = {}
    partitions: dict[str, set[tuple[str, int]]] = {}
    for report in reports:
        for table, found in report.tables.items():
            partitions.setdefault(table, set()).update(found.partitions)
            for place in found.truncations:
                partitions[table].add(place[:2])
                places[table] = max(place, places.get(table, place))
    return places, partitions


def without_truncated(changes: DataFrame, truncations: Iterable[Truncation]) -> DataFrame:
    """Leave out the changes that came before the deletion of all rows."""
    for table, (topic, partition, offset), _ in truncations:
        same = (fn.col("table") == table) & (fn.col("topic") == topic) & (fn.col("partition") == partition)
        changes = changes.where(~same | (fn.col("offset") > offset))
    return changes
