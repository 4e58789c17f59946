"""Schemas of Kafka topics: inferred from what messages hold, widened, and followed as they change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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

_MODULES = {
    "EvolvingQuery": "millrace_catalog.evolution.restart",
    "KafkaJsonCatalog": "millrace_catalog.tables.catalog",
    "JdbcTarget": "millrace_catalog.sinks.jdbc.sink",
    "ParquetTarget": "millrace_catalog.sinks.parquet",
    "TableSink": "millrace_catalog.sinks.table_sink",
    "TargetError": "millrace_catalog.sinks.table_sink",
    "restart_on_schema_change": "millrace_catalog.evolution.restart",
    "sync": "millrace_catalog.sinks.replicate",
}


def __getattr__(name: str) -> Any:
    # Types and inference need no Kafka client, which the catalog does
    if name in _MODULES:
        from importlib import import_module

        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
