"""What only shows when all tasks of a micro-batch have ended: that it was written by more tasks before."""

from __future__ import annotations

import logging
import re

from millrace.configuration import SinkConfig
from millrace.errors import LedgerError
from millrace.kafka.write_admin import WriteAdmin
from millrace.sink.committer.exactly_once import read_ledger

logger = logging.getLogger("millrace.sink")


_checked: set[tuple[str, str]] = set()


def check_first(config: SinkConfig, query: str, run: str, batch: int, tasks: int) -> None:
    """Check the first micro-batch of a query's run by `check_tasks`; a later one repeats nothing.

    Tasks move from worker to worker with each micro-batch, and looking for ledgers asks all brokers.
    """
    if (query, run) not in _checked:
        check_tasks(config, query, batch, tasks)
        _checked.add((query, run))


def check_tasks(config: SinkConfig, query: str, batch: int, tasks: int) -> None:
    """Refuse a micro-batch that tasks have written before which it does not have any more.

    Args:
        config: How it was written.
        query: The streaming query.
        batch: The micro-batch.
        tasks: How many tasks it has.

    Raises:
        LedgerError: There was such a task: some of its rows are written twice.
    """
    prefix = config.options.transactional_id_prefix or ""
    found = (re.fullmatch(re.escape(prefix) + r"-(\d+)", group) for group in WriteAdmin(config.client).groups())
    for number in sorted(int(match[1]) for match in found if match):
        if number < tasks:
            continue
        ledger, _ = read_ledger(config, f"{prefix}-{number}")
        mine = ledger.of(query) if ledger else None
        if mine and mine.batch == batch:
            _report(config, batch, tasks, number)


def _report(config: SinkConfig, batch: int, tasks: int, number: int) -> None:
    problem = (
        f"exactly-once with prefix {config.options.transactional_id_prefix!r}: micro-batch {batch} was unfinished and "
        f"is repeated with {tasks} tasks, but task {number} had written rows of it before. These rows are in the topic "
        f"twice, since other tasks have them now. The query or its number of tasks has changed while the micro-batch "
        f"was unfinished: start it as it was before that"
    )
    if config.options.if_in_doubt == "fail":
        raise LedgerError(f"{problem}; or accept it by 'sink.exactly-once.if-in-doubt' = 'write'")
    logger.warning(problem)
