"""The sink's tables and their schema changes, as sinks get them."""

from __future__ import annotations

from collections.abc import Collection

from millrace.contracts import PipelineSchemaChange, PipelineTable, SchemaChangeType
from millrace_catalog.evolution import SchemaTracker, TableCreation, apply_change
from millrace_catalog.types import Schema
from millrace_catalog.types.spark import to_spark_schema
from millrace_cdc.runtime.planning import TablePlanner
from millrace_cdc.runtime.schema_state import SchemaState
from millrace_cdc.runtime.sink_derivation import change_type


def pipeline_table(schema: Schema, tracker: SchemaTracker, planner: TablePlanner) -> PipelineTable:
    """Return one of the sink's tables, with some of its columns.

    Args:
        schema: The columns.
        tracker: The table.
        planner: Knows its layout.
    """
    layout = planner.layout(tracker.table)
    spark_schema = to_spark_schema(schema, lengths=True)
    return PipelineTable(tracker.table, spark_schema, tracker.primary_key, layout.partition_keys, layout.options)


def pending_changes(
    state: SchemaState, planner: TablePlanner, accepted: Collection[SchemaChangeType]
) -> list[PipelineSchemaChange]:
    """Return the schema changes that a state brings, of the types that the sink gets.

    Args:
        state: The state.
        planner: Knows the layouts of tables.
        accepted: The types.
    """
    schemas: dict[str, Schema] = {}
    changes = []
    for change in state.changes():
        tracker = state.sinks[change.table]
        before = schemas.get(change.table)
        if before is None:
            before = Schema()
            for earlier in tracker.changes()[: change.version - 1]:
                before = apply_change(before, earlier)
        schemas[change.table] = apply_change(before, change)
        columns = () if isinstance(change, TableCreation) else tuple(column.name for column in change.columns)
        table = pipeline_table(schemas[change.table], tracker, planner)
        changes.append(PipelineSchemaChange(change_type(change), table, columns, change.version))
    return [change for change in changes if change.type in accepted]
