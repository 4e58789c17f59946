"""The ledger of a write task: the micro-batches that it has written, committed in the transactions that wrote them.

It is the metadata of an offset that is committed to a consumer group of its own, in the same transaction as the
records. This module decides by ledgers, and knows no client.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import astuple, dataclass
from enum import Enum, auto

from millrace.errors import FencedError, LedgerError

DEFAULT_RETENTION_S = 7 * 86_400.0
"""The brokers' default for 'offsets.retention.minutes'."""

_SAFE_RETENTION = 0.9
"""The part of the retention within which a ledger is there for sure: clocks differ, and transactions take time."""

QUERY_LIVENESS_S = 60.0
"""A query is taken to be running for this long after its last write."""

_VERSION = 1
_MAX_ENTRIES = 8
"""Brokers take 4 KiB of metadata."""


@dataclass(frozen=True)
class LedgerEntry:
    """The newest micro-batch that a query has written.

    Attributes:
        query: Its id, or that of the run of a batch write.
        batch: The number of the micro-batch; 0 for a batch write.
        rows: The number of rows that the task wrote.
        at: The time of the write, in seconds since 1970.
        run: The run of the query that wrote it, or that has last found it written.
        write: The id of the batch write in that run; empty for a streaming write.
        began_ms: The time before the first of its records, in ms since 1970.
        digest: The digest of its records, see `record_digest`; empty where only their number counts.
    """

    query: str
    batch: int
    rows: int
    at: int
    run: str = ""
    write: str = ""
    began_ms: int = 0
    digest: str = ""


@dataclass(frozen=True)
class Ledger:
    """The newest micro-batch of each query that a task has written, the last writer first."""

    entries: tuple[LedgerEntry, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Ledger:
        """Parse the text of `to_text`.

        Raises:
            LedgerError: It is something else: the group is not one of millrace's.
        """
        try:
            fields = json.loads(text)
            if fields["v"] != _VERSION:
                raise ValueError(fields["v"])  # noqa: TRY301
            return cls(tuple(LedgerEntry(*entry) for entry in fields["written"]))
        except (KeyError, TypeError, ValueError) as error:
            raise LedgerError(
                f"its committed offset has the metadata {text[:80]!r}, which is not a ledger of this version of "
                f"millrace. Give an option 'sink.transactional-id-prefix' that nothing else uses"
            ) from error

    def to_text(self) -> str:
        """Serialize as the metadata of an offset."""
        written = [astuple(entry) for entry in self.entries]
        return json.dumps({"v": _VERSION, "written": written}, separators=(",", ":"))

    def entry(self, query: str) -> LedgerEntry | None:
        """Find the entry of a query."""
        return next((entry for entry in self.entries if entry.query == query), None)

    def has_written(self, query: str, batch: int) -> bool:
        """Return whether the newest micro-batch of a query is this one; tasks use `decide`."""
        entry = self.entry(query)
        return entry is not None and entry.batch == batch

    def with_entry(self, entry: LedgerEntry) -> Ledger:
        """Replace the entry of a query, and make it the first."""
        others = tuple(other for other in self.entries if other.query != entry.query)
        return Ledger((entry, *others)[:_MAX_ENTRIES])


class WriteDecision(Enum):
    """The decision of a task on its rows."""

    WRITE = auto()
    SKIP = auto()
    """They have been written already."""
    SKIP_IN_DOUBT = auto()
    """Leave the rows out: the ledger does not say if they are written, and the user's option says to skip them."""
    WRITE_AS_NEW_QUERY = auto()
    """The query begins with a transactional id that other queries have used."""


def decide(
    ledger: Ledger | None,
    query: str,
    batch: int,
    now: float,
    registration: Callable[[], LedgerEntry | None],
    retention_s: float = DEFAULT_RETENTION_S,
    planned_at: float | None = None,
) -> WriteDecision:
    """Decide whether a task writes a micro-batch.

    Args:
        ledger: The task's; None when there is none.
        query: The task's query.
        batch: The micro-batch.
        now: The time, in seconds since 1970.
        registration: Looks up a micro-batch of the query all tasks of which have written, None when there is none;
            called only when the ledger does not know the query.
        retention_s: How long brokers keep a ledger, in seconds.
        planned_at: When Spark first planned the micro-batch, in seconds since 1970; None if it is not known.

    Raises:
        FencedError: Another query that is running uses the same transactional ids, or the attempt is out of date.
        LedgerError: The brokers have forgotten whether the micro-batch was written.
    """
    entry = ledger.entry(query) if ledger else None
    if ledger is None or entry is None:
        # The first micro-batch of a query follows none that could be registered
        registered = registration() if batch > 0 or planned_at is not None else None
        if registered:
            _check_newest(registered, batch)
            if registered.batch == batch:
                # All tasks have written, also one whose ledger is forgotten
                return WriteDecision.SKIP
        _check_remembered(registered, batch, now, retention_s, planned_at)
        return WriteDecision.WRITE_AS_NEW_QUERY if ledger else WriteDecision.WRITE
    _check_newest(entry, batch)
    last = ledger.entries[0]
    if last.query != query and now - last.at < QUERY_LIVENESS_S:
        raise FencedError(
            f"query {last.query} has written with the same 'sink.transactional-id-prefix' "
            f"{max(0, now - last.at):.0f} s ago, while query {query} is running. Give each query a prefix of its own"
        )
    return WriteDecision.SKIP if entry.batch == batch else WriteDecision.WRITE


def _check_newest(entry: LedgerEntry, batch: int) -> None:
    if entry.batch > batch:
        raise FencedError(
            f"this attempt to write micro-batch {batch} is out of date: micro-batch {entry.batch} of its query is "
            f"written already"
        )


def is_remembered(at: float, now: float, retention_s: float) -> bool:
    """Return whether brokers still have what was committed at some time."""
    return now - at <= _SAFE_RETENTION * retention_s


def _check_remembered(
    registered: LedgerEntry | None, batch: int, now: float, retention_s: float, planned_at: float | None
) -> None:
    """Check that brokers cannot have forgotten a ledger of any attempt at a micro-batch.

    All attempts are younger than its planning, and than the registration of a micro-batch before it.
    """
    if registered is None and batch > 0:
        reason = "Kafka knows of none before"
    elif planned_at is not None and (registered is None or planned_at >= registered.at):
        if is_remembered(planned_at, now, retention_s):
            return
        days = (now - planned_at) / 86_400
        reason = f"it was planned {days:.1f} days ago, and what tasks have written of it may be forgotten"
    elif registered is not None and not is_remembered(registered.at, now, retention_s):
        days = (now - registered.at) / 86_400
        reason = f"Kafka heard of the query {days:.1f} days ago, and what tasks have written since may be forgotten"
    else:
        return
    raise LedgerError(
        f"this is micro-batch {batch} of its query, but {reason}: brokers forget it after 'offsets.retention.minutes' "
        f"without a write ({retention_s / 86_400:.3g} days), or the prefix or the topics were changed. Whether the "
        f"micro-batch was written, in whole or in part, when the query last ended, is therefore unknown. Look at the "
        f"topic; to continue and write it, start the query once with 'sink.exactly-once.if-in-doubt' = 'write'"
    )
