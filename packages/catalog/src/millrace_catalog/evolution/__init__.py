"""Schema evolution: ordered changes of a table, and queries that follow them."""

from millrace_catalog.evolution.changes import (
    AddColumns,
    AlterColumnTypes,
    AlteredColumn,
    SchemaChange,
    TableCreation,
    apply_change,
)
from millrace_catalog.evolution.tracker import SchemaTracker

__all__ = [
    "AddColumns",
    "AlterColumnTypes",
    "AlteredColumn",
    "SchemaChange",
    "SchemaTracker",
    "TableCreation",
    "apply_change",
]
