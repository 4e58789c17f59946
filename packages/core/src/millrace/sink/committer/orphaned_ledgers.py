"""Find ledgers of tasks that have no rows of a repeated micro-batch any more, and end what these tasks left open."""

from __future__ import annotations

import logging
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor

from millrace.configuration import SinkConfig
from millrace.errors import LedgerError
from millrace.kafka.retry import RETRY_TIMEOUT_S
from millrace.kafka.write_admin import WriteAdmin
from millrace.sink.committer.completed_batches import completed_run
from millrace.sink.committer.ledger_store import ledger_index, run_key
from millrace.sink.committer.producer_sessions import take_over
from millrace.worker import RESOURCES, ResourceKind

logger = logging.getLogger("millrace.sink")

CHECKED_RUNS = ResourceKind[bool]("checked run", capacity=256)


_CONCURRENT_READS = 8


def check_first_batch(config: SinkConfig, query: str, run: str, batch: int, writers: Collection[int]) -> None:
    """Check the first micro-batch of a query's run by `check_orphaned_ledgers`; a later one repeats nothing.

    Tasks move from worker to worker with each micro-batch, and looking for ledgers asks all brokers.
    """
    key = run_key(config, query, run)
    if key in RESOURCES.items(CHECKED_RUNS):
        return
    completed = completed_run(config)
    # Spark ends the processes of a query that is idle for a minute
    if completed is None or completed.run != run:
        check_orphaned_ledgers(config, query, batch, writers)
    RESOURCES.put(CHECKED_RUNS, key, True)


def check_orphaned_ledgers(config: SinkConfig, query: str, batch: int, writers: Collection[int]) -> None:
    """Refuse a micro-batch that other tasks have written before than those that have its rows now; after these.

    The tasks without rows are taken over, which ends the transactions that they have left open.

    Args:
        config: The sink's configuration.
        query: The streaming query.
        batch: The micro-batch.
        writers: The indexes of the tasks that have rows of it.

    Raises:
        LedgerError: There was such a task: some of its rows are written twice.
    """
    # Brokers may be restarting, which have answered the tasks before
    groups = WriteAdmin(config.client, RETRY_TIMEOUT_S).groups()
    listed = {index for group in groups if (index := ledger_index(config, group)) is not None}
    # Also what is not listed, which a broker may hide that is down: asking for it alone fails then
    silent = sorted(set(range(max(listed.union(writers), default=-1) + 1)).difference(writers))

    def has_written(index: int) -> bool:
        # A task that is gone may have left a transaction open: its ledger is not final before that has ended, and
        # readers wait in front of it
        ledger = take_over(config, index).ledger
        return ledger is not None and ledger.has_written(query, batch)

    # A query may have hundreds of tasks without rows
    with ThreadPoolExecutor(_CONCURRENT_READS, "millrace-ledger") as pool:
        orphaned = [index for index, has in zip(silent, pool.map(has_written, silent), strict=True) if has]
    # One task has compared all rows with what others have written
    if orphaned and config.options.if_in_doubt != "compare":
        _report(config, batch, orphaned)


def _report(config: SinkConfig, batch: int, orphaned: list[int]) -> None:
    problem = (
        f"exactly-once with prefix {config.options.transactional_id_prefix!r}: micro-batch {batch} was unfinished and "
        f"is repeated without rows in task {', '.join(map(str, orphaned))}, which had written rows of it before. These "
        f"rows are in the topic twice if other tasks have them now. The query or its number of tasks has changed while "
        f"the micro-batch was unfinished: start it as it was before that"
    )
    if config.options.if_in_doubt == "fail":
        raise LedgerError(f"{problem}; or accept it by 'sink.exactly-once.if-in-doubt' = 'write'")
    logger.warning(problem)
