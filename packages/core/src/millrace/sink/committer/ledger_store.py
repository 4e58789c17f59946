"""Read and write ledgers in Kafka: one consumer group for each transactional id, and one for the prefix of all."""

from __future__ import annotations

from confluent_kafka import TopicPartition as ClientPartition

from millrace.configuration import SinkConfig
from millrace.errors import LedgerError
from millrace.kafka.offset_metadata import offset_with_metadata, read_offset_metadata
from millrace.sink.committer.ledger import Ledger

DEFAULT_LEDGER_TOPIC = "__consumer_offsets"
"""Topic of the ledgers' offsets for a sink that has none of its own: every cluster with consumer groups has it."""


def ledger_topic(config: SinkConfig) -> str:
    """Return the topic whose partition 0 the ledgers' offsets are committed for."""
    return config.options.topics[0] if config.options.topics else DEFAULT_LEDGER_TOPIC


def transactional_id(config: SinkConfig, task_index: int) -> str:
    """Return the transactional id of a task, which is also the name of its ledger's consumer group."""
    return f"{config.options.transactional_id_prefix}-{task_index}"


def registration_group(config: SinkConfig) -> str:
    """Return the consumer group that says which queries have written with a prefix."""
    return config.options.transactional_id_prefix or ""


def ledger_offset(config: SinkConfig, ledger: Ledger, offset: int) -> ClientPartition:
    """Make an offset to commit whose metadata is the ledger."""
    return offset_with_metadata(ledger_topic(config), offset, ledger.to_text())


def read_ledger(config: SinkConfig, group: str, *, is_final: bool = True) -> tuple[Ledger | None, bytes]:
    """Read the ledger of a consumer group.

    Args:
        config: The sink's configuration.
        group: The group.
        is_final: Whether to wait for transactions that are about to change the ledger.

    Returns:
        The ledger, None when there is none; and the group's metadata, to commit another one.

    Raises:
        LedgerError: The group's offset has other metadata.
        ClientError: The brokers refuse, or do not answer.
    """
    text, metadata = read_offset_metadata(config.client, group, ledger_topic(config), read_committed=is_final)
    try:
        return Ledger.parse(text) if text is not None else None, metadata
    except LedgerError as error:
        raise LedgerError(f"exactly-once by transactional id {group!r}: {error}") from None
