"""Schema evolution: ordered changes of a table, and queries that follow them."""

from millrace_catalog.evolution.changes import (
    AddColumns,
    AlterColumnTypes,
    AlteredColumn,
    CreateTable,
    SchemaChange,
    apply_change,
)
from millrace_catalog.evolution.tracker import SchemaTracker

__all__ = [
    "AddColumns",
    "AlterColumnTypes",
    "AlteredColumn",
    "CreateTable",
    "SchemaChange",
    "SchemaTracker",
    "apply_change",
]
