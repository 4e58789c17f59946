"""Compare the rows of a repeated task with those that its ledger says were written."""

from __future__ import annotations

import logging

from millrace.configuration import SinkConfig
from millrace.errors import LedgerError
from millrace.sink.committer.ledger import LedgerEntry
from millrace.sink.committer.ledger_store import transactional_id
from millrace.sink.committer.record_digest import is_other
from millrace.sink.write_task import WriteResult, WriteTask

logger = logging.getLogger("millrace.sink")

OTHER_DIVISION_ADVICE = (
    "The query, its number of tasks or of cores, or its input has changed while the micro-batch was unfinished. Start "
    "it once as it was before; or once with .coalesce(1) before the write and 'sink.exactly-once.if-in-doubt' = "
    "'compare', which writes what the topic lacks; or leave out the rows of this task ('skip', some may be missing "
    "then), or write all of them ('write', some may be in the topic twice then)"
)

_RECOMPUTED_ADVICE = (
    "If columns have other values each time that they are computed, such as uuid(), rand() or the time of a UDF, set "
    "'sink.exactly-once.compare-by' = 'count'"
)


def check_rows(config: SinkConfig, task: WriteTask, entry: LedgerEntry | None, rows: WriteResult) -> None:
    """Check that the rows that are skipped are those that were written.

    Raises:
        LedgerError: They are not, unless the user's option accepts it.
    """
    problem = _problem(config, task, entry, rows)
    if problem and config.options.if_in_doubt != "skip":
        raise LedgerError(problem)
    if problem:
        logger.warning("%s. They are skipped now", problem.partition(". ")[0])


def has_other_rows(config: SinkConfig, task: WriteTask, entry: LedgerEntry | None, rows: WriteResult) -> bool:
    """Return whether a task had written other rows; the user's option then writes all of them."""
    problem = _problem(config, task, entry, rows)
    if problem:
        logger.warning(
            "%s. All of them are written now; those that were written before are there twice",
            problem.partition(". ")[0],
        )
    return problem is not None


def other_count(config: SinkConfig, task: WriteTask, before: int, now: int) -> str:
    """Describe that a task has another number of rows than before."""
    return f"{_repeated(config, task)} written with {before} rows by this task before, and is repeated with {now}"


def _problem(config: SinkConfig, task: WriteTask, entry: LedgerEntry | None, rows: WriteResult) -> str | None:
    if entry is None:
        return None
    if entry.rows != rows.rows:
        return f"{other_count(config, task, entry.rows, rows.rows)}. {OTHER_DIVISION_ADVICE}"
    if not is_other(rows.digest, entry.digest):
        return None
    same_count = f"{_repeated(config, task)} written with {rows.rows} rows by this task before, and is repeated with"
    return f"{same_count} as many other ones. {_RECOMPUTED_ADVICE}. Otherwise: {OTHER_DIVISION_ADVICE}"


def _repeated(config: SinkConfig, task: WriteTask) -> str:
    return f"exactly-once by transactional id {transactional_id(config, task.index)!r}: micro-batch {task.batch} was"
