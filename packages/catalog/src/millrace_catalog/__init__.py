"""Schemas of Kafka topics: inferred from what messages hold, widened, and followed as they change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millrace.lazy_imports import lazy_imports

if TYPE_CHECKING:
    from millrace_catalog.evolution.restart import EvolvingQuery as EvolvingQuery
    from millrace_catalog.evolution.restart import restart_on_schema_change as restart_on_schema_change
    from millrace_catalog.sinks.jdbc.sink import JdbcTarget as JdbcTarget
    from millrace_catalog.sinks.parquet import ParquetTarget as ParquetTarget
    from millrace_catalog.sinks.replicate import sync as sync
    from millrace_catalog.sinks.table_sink import TableSink as TableSink
    from millrace_catalog.sinks.table_sink import TargetError as TargetError
    from millrace_catalog.tables.catalog import KafkaJsonCatalog as KafkaJsonCatalog

__all__ = [
    "EvolvingQuery",
    "JdbcTarget",
    "KafkaJsonCatalog",
    "ParquetTarget",
    "TableSink",
    "TargetError",
    "restart_on_schema_change",
    "sync",
]

__getattr__, __dir__ = lazy_imports(
    __name__,
    {
        "millrace_catalog.evolution.restart": ["EvolvingQuery", "restart_on_schema_change"],
        "millrace_catalog.sinks.jdbc.sink": ["JdbcTarget"],
        "millrace_catalog.sinks.parquet": ["ParquetTarget"],
        "millrace_catalog.sinks.replicate": ["sync"],
        "millrace_catalog.sinks.table_sink": ["TableSink", "TargetError"],
        "millrace_catalog.tables.catalog": ["KafkaJsonCatalog"],
    },
)
