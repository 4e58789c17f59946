"""Hand the changes of a micro-batch to the sink, with the columns of its tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from millrace.contracts import PipelineSink
from millrace.pyspark_internals import streaming_query_id
from millrace_cdc.runtime.converted_changes import ConvertedChanges
from millrace_cdc.runtime.paused_tables import without_tables
from millrace_cdc.runtime.planning import TablePlanner
from millrace_cdc.runtime.progress import PipelineProgress
from millrace_cdc.runtime.schema_state import SchemaState, TableSchemas
from millrace_cdc.runtime.sink_tables import pipeline_table
from millrace_cdc.runtime.table_schema import SourceTableSchema
from millrace_cdc.runtime.task_reports import TaskFindings
from millrace_cdc.runtime.transforms import RowTransforms
from millrace_cdc.runtime.truncation import TruncationPolicy, without_truncated
from millrace_cdc.transforms.transform import BoundTransform

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class ParsedChanges:
    """The changes of a micro-batch, as the parser has left them.

    Attributes:
        batch: The number of the micro-batch.
        changes: The changes of all tables.
        tables: The source's tables that they were parsed with.
    """

    batch: int
    changes: DataFrame
    tables: Mapping[str, SourceTableSchema]


class ChangeWriter:
    """Write the changes of micro-batches.

    Args:
        sink: The sink.
        planner: Plans the sink's tables.
        transforms: Transforms rows.
        truncations: Decides which tables are emptied.
        sources: Formats the source's tables.
    """

    def __init__(
        self,
        sink: PipelineSink,
        planner: TablePlanner,
        transforms: RowTransforms,
        truncations: TruncationPolicy,
        sources: TableSchemas,
    ) -> None:
        self._sink = sink
        self._planner = planner
        self._transforms = transforms
        self._truncations = truncations
        self._sources = sources
        self._sinks = TableSchemas()

    def write(
        self, parsed: ParsedChanges, state: SchemaState, reports: Sequence[TaskFindings], progress: PipelineProgress
    ) -> None:
        """Write the changes of all tables that are not paused.

        Args:
            parsed: The changes.
            state: The state of the micro-batch.
            reports: The reports of its tasks, without paused tables.
            progress: The progress, which shows the tables that are written.

        Raises:
            MillraceError: The sink cannot write them.
        """
        truncations = self._truncations.applied(state, reports)
        truncated = frozenset(target for truncation in truncations for target in truncation.targets)
        rows = _row_counts(reports)
        routes = {table: self._planner.targets(table) for table in sorted(rows)}
        if not routes and not truncated:
            return
        changes = without_truncated(without_tables(parsed.changes, state.paused), truncations)
        targets = list(dict.fromkeys((*(name for names in routes.values() for name in names), *sorted(truncated))))
        tables = {name: pipeline_table(state.sinks[name].schema, state.sinks[name], self._planner) for name in targets}
        columns = self._sinks.of(state.sinks, targets)
        fitting = _fitting(parsed.tables, reports)
        transforms = self._transforms_of(state, routes)
        sources = self._sources.of(state.sources, transforms)
        same = frozenset(name for name in transforms if fitting.get(name) == sources[name])
        transformed, finish = self._transforms.apply(changes, sources, transforms, same)
        pipeline = streaming_query_id(changes.sparkSession.sparkContext)
        stay = frozenset(
            name
            for name, names in routes.items()
            if name in fitting
            and name not in transforms
            and all(fitting[name].columns == columns[target].columns for target in names)
        )
        partial = frozenset(
            name for report in reports for name, table_report in report.tables.items() if table_report.is_partial
        )
        writing = progress.begin(parsed.batch, len(tables))
        progress.sink_tables.update(tables)
        self._sink.write(
            ConvertedChanges(
                pipeline,
                parsed.batch,
                transformed,
                routes,
                columns,
                tables,
                rows,
                stay,
                truncated,
                partial,
                finish,
                writing.written.add,
            )
        )

    def _transforms_of(self, state: SchemaState, tables: Iterable[str]) -> dict[str, tuple[BoundTransform, ...]]:
        bound_by_table = {name: self._planner.transforms(name, state.sources[name].schema) for name in tables}
        return {name: bound for name, bound in bound_by_table.items() if bound}


def _row_counts(reports: Iterable[TaskFindings]) -> Counter[str]:
    """Return the number of changes of each table that has some."""
    rows: Counter[str] = Counter()
    for report in reports:
        rows.update({name: table_report.rows for name, table_report in report.tables.items() if table_report.rows})
    return rows


def _fitting(tables: Mapping[str, SourceTableSchema], reports: Iterable[TaskFindings]) -> dict[str, SourceTableSchema]:
    """Return the tables all of whose rows have the columns that they had before the micro-batch."""
    others = {name for report in reports for name, table_report in report.tables.items() if not table_report.fits}
    return {name: table for name, table in tables.items() if name not in others}
