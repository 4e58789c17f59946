"""The state of an exactly-once write: what its tasks have last committed, and the transactions that are open."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from millrace.api.query_explanation import write_options
from millrace.configuration import SinkConfig
from millrace.configuration.build import configure_sink
from millrace.contracts import TopicPartition
from millrace.kafka.admin import admin_for
from millrace.kafka.write_admin import write_admin_for
from millrace.sink.committer.ledger_store import ledger_group, ledger_index, read_ledger, transactional_id

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery

MAX_TASKS = 64
"""The number of tasks whose ledgers are read, the first: each costs a request to its coordinator."""

_CONCURRENT_READS = 8
_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class TaskLedger:
    """The newest micro-batch in the ledger of a task.

    Attributes:
        task: The index of the task.
        transactional_id: Its transactional id.
        query: The id of the query that wrote it.
        batch: The number of the micro-batch.
        rows: The number of rows that the task wrote.
        written_at: The time of the write.
    """

    task: int
    transactional_id: str
    query: str
    batch: int
    rows: int
    written_at: datetime


@dataclass(frozen=True)
class ExactlyOnceState:
    """The state of an exactly-once write.

    Attributes:
        prefix: The prefix of the transactional ids.
        ledgers: The ledgers of the first tasks, by their indexes.
        tasks: The number of tasks that have ledgers.
        open_records: The number of records behind open transactions, of the partitions of the written topics that have
            any. Kafka's client does not tell whose they are.
    """

    prefix: str
    ledgers: tuple[TaskLedger, ...]
    tasks: int
    open_records: dict[TopicPartition, int]


def exactly_once_state(query: StreamingQuery) -> ExactlyOnceState | None:
    """Return what the tasks of a running query's exactly-once write have committed, and what is open in its topics.

    Nothing is written. It asks the brokers, so call it for people, not in a loop.

    Args:
        query: A streaming query of a classic session, after its first micro-batch.

    Returns:
        The state; None for a query that does not write exactly once by millrace.

    Raises:
        ClientError: The brokers refuse, or do not answer.
        LedgerError: Consumer groups with the prefix hold something else.
    """
    options = write_options(query)
    if options is None:
        return None
    config = configure_sink(options, warns=False)
    return state_of_write(config) if config.options.is_exactly_once else None


def state_of_write(config: SinkConfig) -> ExactlyOnceState:
    """Return the state of a write by its configuration: see `exactly_once_state`."""
    groups = write_admin_for(config.client, _TIMEOUT_S).groups()
    indexes = sorted(index for group in groups if (index := ledger_index(config, group)) is not None)
    with ThreadPoolExecutor(_CONCURRENT_READS, "millrace-ledger") as pool:
        read = pool.map(lambda index: _task_ledger(config, index), indexes[:MAX_TASKS])
        ledgers = tuple(ledger for ledger in read if ledger is not None)
    return ExactlyOnceState(str(config.options.transactional_id_prefix), ledgers, len(indexes), _open_records(config))


def _task_ledger(config: SinkConfig, index: int) -> TaskLedger | None:
    # A transaction under way need not be waited for
    ledger, _ = read_ledger(config, ledger_group(config, index), is_final=False)
    if ledger is None or not ledger.entries:
        return None
    entry = ledger.entries[0]
    written_at = datetime.fromtimestamp(entry.at, UTC)
    return TaskLedger(index, transactional_id(config, index), entry.query, entry.batch, entry.rows, written_at)


def _open_records(config: SinkConfig) -> dict[TopicPartition, int]:
    if not config.options.topics:
        return {}
    admin = admin_for(config.client)
    described = admin.topics(config.options.topics)
    partitions = [
        TopicPartition(name, number) for name, topic in described.items() for number in range(topic.partitions)
    ]
    bounds = admin.bounds(partitions, with_high_watermarks=True)
    hidden = {partition: bounds.high_watermarks[partition] - bounds.end[partition] for partition in partitions}
    return {partition: records for partition, records in hidden.items() if records > 0}
