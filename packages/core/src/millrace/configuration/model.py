"""Parsed configurations of a source and a sink: frozen dataclasses that executors use without the parser."""

from __future__ import annotations

from dataclasses import dataclass

from millrace.options.connector import SinkOptions, SourceOptions
from millrace.options.secrets import Properties
from millrace.plugins.manager import PluginRef


@dataclass(frozen=True)
class SourceConfig:
    """The configuration of a read.

    Attributes:
        options: The source's own options.
        client: Properties for the Kafka client, under librdkafka's names.
        value_format: The format of values; None for the columns of Spark's own connector.
        key_format: The format of keys; None for rows that have no part of them.
        startup: Where to start; None leaves it to the kind of query.
        bounded: Where to stop; None leaves it to the kind of query.
        header_filter: Selects the records to keep; None keeps all.
        dead_letter_collector: Collects the malformed messages that are skipped; None discards them.
        inference: Infers the columns of values where the user gives none; None where the format has no inference.
        follows_group: Whether the consumer group of the client is where the query starts, and follows it, unless
            options say otherwise.
        state_backend: Keeps the state of a table with a primary key; None where there is no such table.
        key_partitioner: The partitioner that has written the messages; None where it is not known.
    """

    options: SourceOptions
    client: Properties
    value_format: PluginRef | None
    key_format: PluginRef | None
    startup: PluginRef | None
    bounded: PluginRef | None
    header_filter: PluginRef | None
    dead_letter_collector: PluginRef | None = None
    inference: PluginRef | None = None
    follows_group: bool = False
    state_backend: PluginRef | None = None
    key_partitioner: PluginRef | None = None


@dataclass(frozen=True)
class SinkConfig:
    """The configuration of a write.

    Attributes:
        options: The sink's own options.
        client: Properties for the Kafka client, under librdkafka's names.
        value_format: The format of values; None for the columns of Spark's own connector.
        key_format: The format of keys; None for keys that are metadata, or none.
        partitioner: Chooses the partitions of records.
        ledger_retention_s: How long brokers keep what tasks have committed exactly once, in seconds.
        can_lose_ledgers: Whether brokers can lose it to a late request, see `millrace.kafka.group_coordinators`.
        checkpoint_location: The folder of the streaming query's checkpoint, as the user gave it; empty where the query
            is not known to have one.
    """

    options: SinkOptions
    client: Properties
    value_format: PluginRef | None
    key_format: PluginRef | None
    partitioner: PluginRef
    ledger_retention_s: float = 7 * 86_400.0
    can_lose_ledgers: bool = False
    checkpoint_location: str = ""
