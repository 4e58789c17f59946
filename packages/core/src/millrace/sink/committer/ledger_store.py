"""Read and write ledgers in Kafka: one consumer group for each transactional id, and one for the prefix of all.

The names of these groups end with what distinguishes them, in words that no application's group has by accident: the
groups of one prefix are never those of another one, whatever the two are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from confluent_kafka import TopicPartition as ClientPartition

from millrace.configuration import SinkConfig
from millrace.errors import ClientError, GroupInUseError, LedgerError
from millrace.kafka.offset_metadata import (
    REQUEST_TIMEOUT_S,
    OffsetReader,
    has_timed_out,
    offset_with_metadata,
    read_offset_metadata,
)
from millrace.sink.committer.ledger import Ledger

DEFAULT_LEDGER_TOPIC = "__consumer_offsets"
"""Topic of the ledgers' offsets for a sink that has none of its own: every cluster with consumer groups has it."""

_CONNECTED_TIMEOUT_S = 2.0
"""Time for the answer to a client that is connected already; after it, a new one asks."""


def ledger_topic(config: SinkConfig) -> str:
    """Return the topic whose partition 0 the ledgers' offsets are committed for."""
    return config.options.topics[0] if config.options.topics else DEFAULT_LEDGER_TOPIC


def transactional_id(config: SinkConfig, task_index: int) -> str:
    """Return the transactional id of a task."""
    return f"{config.options.transactional_id_prefix}-{task_index}"


def ledger_group(config: SinkConfig, task_index: int) -> str:
    """Return the consumer group of a task's ledger."""
    return f"{config.options.transactional_id_prefix}.millrace-ledger-{task_index}"


def ledger_index(config: SinkConfig, group: str) -> int | None:
    """Return the index of the task whose ledger a consumer group has; None for another group."""
    match = re.fullmatch(re.escape(f"{config.options.transactional_id_prefix}.millrace-ledger-") + r"(\d+)", group)
    return int(match[1]) if match else None


def heartbeat_group(config: SinkConfig, task_index: int) -> str:
    """Return the consumer group of the heartbeats of a task's attempts."""
    return f"{config.options.transactional_id_prefix}.millrace-heartbeats-{task_index}"


def proof_group(config: SinkConfig, task_index: int) -> str:
    """Return the consumer group to which a task commits the offset that proves that it owns its transactional id.

    It is not the ledger's: a proof that arrives late, after the next ledger, would replace that.
    """
    return f"{config.options.transactional_id_prefix}.millrace-owners-{task_index}"


def registration_group(config: SinkConfig) -> str:
    """Return the consumer group that says which queries have written with a prefix."""
    return f"{config.options.transactional_id_prefix}.millrace-queries"


def run_key(config: SinkConfig, query: str, run: str) -> tuple[str, str, str, str]:
    """Return what identifies a run of a query with a sink: several sinks have prefixes or clusters of their own."""
    return str(config.client.get("bootstrap.servers")), str(config.options.transactional_id_prefix), query, run


def one_prefix_for_two_writes(config: SinkConfig, batch: int) -> str:
    """Describe that two writes of a foreachBatch callback have one prefix."""
    return (
        f"micro-batch {batch} is written twice with 'sink.transactional-id-prefix' = "
        f"{config.options.transactional_id_prefix!r}: by two writes of one foreachBatch callback, or by a callback "
        f"that repeats a write. Give each write of the callback a prefix of its own, and let a failed write end the "
        f"query: when it starts again, only what is missing is written"
    )


def check_without_members(config: SinkConfig, groups: Mapping[str, bool]) -> None:
    """Check that no consumer is a member of a group of ledgers: brokers take offsets in a transaction all the same.

    Args:
        config: The sink's configuration.
        groups: Whether each consumer group of the cluster has members.

    Raises:
        GroupInUseError: A group has members.
    """
    own = (group for group in groups if group.startswith(f"{config.options.transactional_id_prefix}.millrace-"))
    for group in own:
        if groups[group]:
            raise GroupInUseError(
                f"consumer group {group!r} has live members, but exactly-once with prefix "
                f"{config.options.transactional_id_prefix!r} keeps its ledgers there. Give these consumers another "
                f"group, or give the option 'sink.transactional-id-prefix' another value"
            )


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
    return _parse(group, text), metadata


class LedgerReader:
    """A client that reads the final ledger of one consumer group, and stays connected.

    Args:
        config: The sink's configuration.
        group: The group.
    """

    def __init__(self, config: SinkConfig, group: str) -> None:
        self._config, self._group = config, group
        self._reader = OffsetReader(config.client, group)
        self._has_read = False

    def read(self, end_open_offset: Callable[[bytes], None]) -> tuple[Ledger | None, bytes]:
        """Read what `read_ledger` does.

        Args:
            end_open_offset: Aborts a transaction that commits an offset of the group, whose own metadata it gets. It is
                called if an offset that no other transaction will end keeps the ledger from being final. Old brokers
                (3.5, not 3.9) take a commit of offsets that arrives after the end of its transaction, such as the first
                copy of one that was sent again, and wait for ever for the transaction to end.

        Raises:
            LedgerError, ClientError: As `read_ledger`.
        """
        if self._has_read:
            try:
                return self._read(_CONNECTED_TIMEOUT_S)
            except ClientError:
                # What it remembers of the brokers may be out of date
                self._reader.close()
                self._reader = OffsetReader(self._config.client, self._group)
        try:
            return self._read(REQUEST_TIMEOUT_S)
        except ClientError as error:
            if has_timed_out(error):
                # Fails if the brokers do not answer at all
                read_ledger(self._config, self._group, is_final=False)
                end_open_offset(self._reader.group_metadata)
        return self._read(None)

    def _read(self, once_within_s: float | None) -> tuple[Ledger | None, bytes]:
        text, metadata = self._reader.read(ledger_topic(self._config), once_within_s)
        self._has_read = True
        return _parse(self._group, text), metadata

    def close(self) -> None:
        """Close the client."""
        self._reader.close()


def _parse(group: str, text: str | None) -> Ledger | None:
    try:
        return Ledger.parse(text) if text is not None else None
    except LedgerError as error:
        raise LedgerError(f"exactly-once with consumer group {group!r}: {error}") from None
