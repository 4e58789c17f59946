"""Schemas of Kafka topics: inferred from messages, widened, and followed as they change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millrace.lazy_imports import lazy_imports

if TYPE_CHECKING:
    from millrace_catalog.evolution.restart import EvolvingQuery as EvolvingQuery
    from millrace_catalog.evolution.restart import restart_on_schema_change as restart_on_schema_change
    from millrace_catalog.sinks.jdbc.sink import JdbcSink as JdbcSink
    from millrace_catalog.sinks.parquet import ParquetSink as ParquetSink
    from millrace_catalog.sinks.replicate import replicate as replicate
    from millrace_catalog.sinks.table_sink import ReplicationSink as ReplicationSink
    from millrace_catalog.sinks.table_sink import TableSinkError as TableSinkError
    from millrace_catalog.tables.catalog import KafkaJsonCatalog as KafkaJsonCatalog

__all__ = [
    "EvolvingQuery",
    "JdbcSink",
    "KafkaJsonCatalog",
    "ParquetSink",
    "ReplicationSink",
    "TableSinkError",
    "replicate",
    "restart_on_schema_change",
]

# Lazily, since types and inference need neither the Kafka client nor Spark, which the catalog does
__getattr__, __dir__ = lazy_imports(
    __name__,
    {
        "millrace_catalog.evolution.restart": ["EvolvingQuery", "restart_on_schema_change"],
        "millrace_catalog.sinks.jdbc.sink": ["JdbcSink"],
        "millrace_catalog.sinks.parquet": ["ParquetSink"],
        "millrace_catalog.sinks.replicate": ["replicate"],
        "millrace_catalog.sinks.table_sink": ["ReplicationSink", "TableSinkError"],
        "millrace_catalog.tables.catalog": ["KafkaJsonCatalog"],
    },
)
