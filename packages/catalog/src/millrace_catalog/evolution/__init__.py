"""Schemas that follow their messages: ordered changes of a table, which can be kept and gone on from."""

from millrace_catalog.evolution.changes import (
    AddColumns,
    AlterColumnTypes,
    AlteredColumn,
    CreateTable,
    SchemaChange,
    apply_change,
)
from millrace_catalog.evolution.options import EvolutionOptions
from millrace_catalog.evolution.tracker import SchemaTracker

__all__ = [
    "AddColumns",
    "AlterColumnTypes",
    "AlteredColumn",
    "CreateTable",
    "EvolutionOptions",
    "SchemaChange",
    "SchemaTracker",
    "apply_change",
]
