"""Hooks of this package: the names of its plugins and their import strings."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.plugins import hookimpl


@hookimpl
def millrace_table_factories() -> Mapping[str, str]:
    """Return the table factories of this package, by the value of ``connector``."""
    return {
        "blackhole": "millrace_sql.connectors.blackhole:BlackholeTableFactory",
        "datagen": "millrace_sql.connectors.datagen.factory:DatagenTableFactory",
        "filesystem": "millrace_sql.connectors.filesystem:FilesystemTableFactory",
        "jdbc": "millrace_sql.connectors.jdbc:JdbcTableFactory",
        "kafka": "millrace_sql.connectors.kafka.factory:KafkaTableFactory",
        "upsert-kafka": "millrace_sql.connectors.kafka.upsert_factory:UpsertKafkaTableFactory",
        "print": "millrace_sql.connectors.print:PrintTableFactory",
    }
