"""Find out what earlier runs of a query have written of the micro-batch that its new run may repeat.

Tasks that have written some of it must have the same rows again. The others write only after these have shown that they
do: if the rows are divided in another way now, nothing is written.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from millrace.configuration import SinkConfig
from millrace.errors import FencedError, LedgerError
from millrace.kafka.retry import RETRY_TIMEOUT_S, poll
from millrace.kafka.write_admin import WriteAdmin
from millrace.sink.committer.ledger import LedgerEntry
from millrace.sink.committer.ledger_store import ledger_group, ledger_index, read_ledger, transactional_id
from millrace.sink.committer.repeated_rows import OTHER_DIVISION_ADVICE
from millrace.sink.write_task import WriteTask
from millrace.worker import RESOURCES, ResourceKind, WorkerResources

logger = logging.getLogger("millrace.sink")

CONFIRMATION_TIMEOUT_S = 30.0
"""Time for which a task waits for those with smaller indexes that have written before: they may have many rows."""

LATER_CONFIRMATION_TIMEOUT_S = 10.0
"""Time for which a task waits for those with larger indexes: they may be waiting for its core."""

_CONCURRENT_READS = 8


@dataclass(frozen=True)
class UnfinishedBatch:
    """The first micro-batch of a run, as earlier runs have left it.

    Attributes:
        batch: Its number.
        written: What tasks have written of it, by their indexes.
        task_count: The least number of tasks that the prefix has had.
        settled: The indexes of those that need not be waited for: this process has seen that they have the same rows in
            this run, or has waited for them in vain.
    """

    batch: int
    written: Mapping[int, LedgerEntry]
    task_count: int
    settled: set[int] = field(default_factory=set)


UNFINISHED_BATCHES = ResourceKind[UnfinishedBatch]("unfinished micro-batch", capacity=64)


def unfinished_batch(
    config: SinkConfig, task: WriteTask, resources: WorkerResources = RESOURCES
) -> UnfinishedBatch | None:
    """Return what earlier runs have written of a task's micro-batch; None when they have written nothing.

    Reads the ledgers of all tasks, once for each run in a process.

    Raises:
        FencedError: A task has written a later micro-batch.
        LedgerError: A consumer group of ledgers holds something else.
        ClientError: The brokers refuse, or do not answer.
    """
    if not task.may_be_repeated:
        return None
    unfinished = resources.get(UNFINISHED_BATCHES, (config, task.query, task.run), lambda: _read_all(config, task))
    return unfinished if unfinished.batch == task.batch and unfinished.written else None


def await_confirmations(
    config: SinkConfig,
    task: WriteTask,
    unfinished: UnfinishedBatch,
    timeout_s: float = CONFIRMATION_TIMEOUT_S,
    later_timeout_s: float = LATER_CONFIRMATION_TIMEOUT_S,
) -> None:
    """Wait until the tasks that have written before have shown that they have the same rows again.

    Spark starts tasks by their indexes: those before a task hold a core already, and need not wait for this one's.
    Those after it may have to, so that a process waits for each of them only once, and shorter.

    Args:
        config: The sink's configuration.
        task: The task that waits.
        unfinished: What has been written before.
        timeout_s: How long to wait for tasks before it, in seconds.
        later_timeout_s: How long to wait for tasks after it, in seconds.

    Raises:
        LedgerError: They have not shown it in time, and Spark may have divided the micro-batch anew; or as
            `read_ledger`.
        ClientError: As `read_ledger`.
    """
    earlier = sorted(index for index in unfinished.written if index < task.index)
    later = sorted(index for index in unfinished.written if index > task.index)
    _await(config, task, unfinished, earlier, timeout_s)
    unfinished.settled.update(_await(config, task, unfinished, later, later_timeout_s))


def _await(
    config: SinkConfig, task: WriteTask, unfinished: UnfinishedBatch, indexes: list[int], timeout_s: float
) -> list[int]:
    """Wait for some tasks, and return those that have not shown in time that they have the same rows."""

    def unconfirmed() -> list[int]:
        waiting = [index for index in indexes if index not in unfinished.settled]
        for index in waiting:
            entry = _read_entry(config, task, index)
            if entry is not None and entry.batch == task.batch and entry.run != task.run:
                return [other for other in waiting if other >= index]
            unfinished.settled.add(index)
        return []

    waiting = poll(unconfirmed, lambda left: not left, timeout_s=timeout_s)
    if waiting and task.may_divide_anew:
        raise LedgerError(
            f"exactly-once by transactional id {transactional_id(config, task.index)!r}: tasks {waiting} had written "
            f"some of micro-batch {task.batch} before, and have not shown within {timeout_s:.0f} s that they have the "
            f"same rows again. {OTHER_DIVISION_ADVICE}"
        )
    if waiting:
        logger.warning(
            "task %d of micro-batch %d writes without having seen that tasks %s, which had written before, have the "
            "same rows again: they have not come so far within %.0f s",
            task.index,
            task.batch,
            waiting,
            timeout_s,
        )
    return waiting


def _read_all(config: SinkConfig, task: WriteTask) -> UnfinishedBatch:
    # The driver has reached the brokers: if they do not answer a task, they are restarting
    groups = WriteAdmin(config.client, RETRY_TIMEOUT_S).groups()
    indexes = sorted(index for group in groups if (index := ledger_index(config, group)) is not None)
    with ThreadPoolExecutor(_CONCURRENT_READS, "millrace-ledger") as pool:
        entries = dict(zip(indexes, pool.map(lambda index: _read_entry(config, task, index), indexes), strict=True))
    for index, entry in entries.items():
        if entry is not None and entry.batch > task.batch:
            raise FencedError(
                f"this attempt to write micro-batch {task.batch} with prefix "
                f"{config.options.transactional_id_prefix!r} is out of date: task {index} has written micro-batch "
                f"{entry.batch} of its query already. If the query continues from an "
                f"older copy of its checkpoint, give it another prefix"
            )
    written = {
        index: entry
        for index, entry in entries.items()
        if entry is not None and entry.batch == task.batch and entry.run != task.run
    }
    return UnfinishedBatch(task.batch, written, max(indexes, default=-1) + 1)


def _read_entry(config: SinkConfig, task: WriteTask, index: int) -> LedgerEntry | None:
    # Transactions of tasks that confirm, or write, are under way; they need not be waited for
    ledger, _ = read_ledger(config, ledger_group(config, index), is_final=False)
    return ledger.entry(task.query) if ledger else None
