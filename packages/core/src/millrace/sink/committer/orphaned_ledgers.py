"""Find ledgers of tasks that a repeated micro-batch does not have any more."""

from __future__ import annotations

import logging

from millrace.configuration import SinkConfig
from millrace.errors import LedgerError
from millrace.kafka.write_admin import WriteAdmin
from millrace.sink.committer.ledger_store import ledger_group, ledger_index, read_ledger
from millrace.worker import RESOURCES, ResourceKind

logger = logging.getLogger("millrace.sink")

CHECKED_RUNS = ResourceKind[bool]("checked run", capacity=256)


def check_first_batch(config: SinkConfig, query: str, run: str, batch: int, tasks: int) -> None:
    """Check the first micro-batch of a query's run by `check_orphaned_ledgers`; a later one repeats nothing.

    Tasks move from worker to worker with each micro-batch, and looking for ledgers asks all brokers.
    """
    if (query, run) not in RESOURCES.items(CHECKED_RUNS):
        check_orphaned_ledgers(config, query, batch, tasks)
        RESOURCES.put(CHECKED_RUNS, (query, run), True)


def check_orphaned_ledgers(config: SinkConfig, query: str, batch: int, tasks: int) -> None:
    """Refuse a micro-batch that more tasks have written before than it has now; after all tasks have written.

    Args:
        config: The sink's configuration.
        query: The streaming query.
        batch: The micro-batch.
        tasks: The number of its tasks.

    Raises:
        LedgerError: There was such a task: some of its rows are written twice.
    """
    indexes = (ledger_index(config, group) for group in WriteAdmin(config.client).groups())
    for index in sorted(index for index in indexes if index is not None):
        if index < tasks:
            continue
        ledger, _ = read_ledger(config, ledger_group(config, index))
        if ledger and ledger.has_written(query, batch):
            _report(config, batch, tasks, index)


def _report(config: SinkConfig, batch: int, tasks: int, index: int) -> None:
    problem = (
        f"exactly-once with prefix {config.options.transactional_id_prefix!r}: micro-batch {batch} was unfinished and "
        f"is repeated with {tasks} tasks, but task {index} had written rows of it before. These rows are in the topic "
        f"twice, since other tasks have them now. The query or its number of tasks has changed while the micro-batch "
        f"was unfinished: start it as it was before that"
    )
    if config.options.if_in_doubt == "fail":
        raise LedgerError(f"{problem}; or accept it by 'sink.exactly-once.if-in-doubt' = 'write'")
    logger.warning(problem)
