"""The ledger of a write task: which micro-batches it has written, kept by Kafka in the transactions that wrote them.

It is the metadata of an offset that is committed to a consumer group in the name of the task's transactional id, in the
same transaction as the records. What is here only reads and decides; it knows no client.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from millrace.errors import FencedError, LedgerError

LEDGER_TOPIC = "__consumer_offsets"
"""Where ledgers stand for a sink that has no topic of its own: a topic that every cluster with groups has."""

IS_LIVE_S = 60.0
"""How long after its last write a query is taken to be running."""

_VERSION = 1
_KEPT = 8
"""How many queries a ledger remembers; brokers take 4 KiB."""


@dataclass(frozen=True)
class Entry:
    """The newest micro-batch that a query has written.

    Attributes:
        query: Its id, or that of the run of a batch write.
        batch: The number of the micro-batch; 0 for a batch write.
        rows: How many rows the task had.
        at: When that was, in seconds since 1970.
    """

    query: str
    batch: int
    rows: int
    at: int


@dataclass(frozen=True)
class Ledger:
    """What a task has written, for each query the newest micro-batch, the last writer first."""

    entries: tuple[Entry, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Ledger:
        """What `to_text` wrote.

        Raises:
            LedgerError: It is something else: the group is not one of millrace's.
        """
        try:
            found = json.loads(text)
            if found["v"] != _VERSION:
                raise ValueError(found["v"])  # noqa: TRY301
            return cls(tuple(Entry(*fields) for fields in found["written"]))
        except (KeyError, TypeError, ValueError) as error:
            raise LedgerError(
                f"its consumer group holds {text[:80]!r}, which is no ledger of this version of millrace. Give an "
                f"option 'sink.transactional-id-prefix' that nothing else uses"
            ) from error

    def to_text(self) -> str:
        """As it is written beside the offset."""
        written = [[entry.query, entry.batch, entry.rows, entry.at] for entry in self.entries]
        return json.dumps({"v": _VERSION, "written": written}, separators=(",", ":"))

    def of(self, query: str) -> Entry | None:
        """What a query has written."""
        return next((entry for entry in self.entries if entry.query == query), None)

    def with_entry(self, entry: Entry) -> Ledger:
        """The same after a query has written."""
        others = tuple(other for other in self.entries if other.query != entry.query)
        return Ledger((entry, *others)[:_KEPT])


class Verdict(Enum):
    """What a task is to do with its rows."""

    WRITE = auto()
    SKIP = auto()
    """They are written already."""
    WRITE_ANEW = auto()
    """The query begins, where others have written before."""


def judge(ledger: Ledger | None, query: str, batch: int, now: float, is_known: Callable[[], bool]) -> Verdict:
    """Whether a task has written a micro-batch.

    Args:
        ledger: The task's; None when there is none.
        query: The task's query.
        batch: The micro-batch.
        now: Seconds since 1970.
        is_known: Whether Kafka remembers that the query has written at all; asked when the ledger does not say so.

    Raises:
        FencedError: Another query that is running uses the same transactional ids, or the task is out of date.
        LedgerError: There is no telling.
    """
    mine = ledger.of(query) if ledger else None
    if ledger is None or mine is None:
        if batch > 0 and not is_known():
            raise LedgerError(
                f"this is micro-batch {batch} of its query, but Kafka knows of none before: brokers forget it after "
                f"'offsets.retention.minutes' without a write (7 days by default), or the prefix or the topics were "
                f"changed. Whether the micro-batch was written, in whole or in part, when the query last ended, is "
                f"therefore unknown. Look at the topic; to go on and write it, start the query once with the option "
                f"'sink.exactly-once.if-in-doubt' = 'write'"
            )
        return Verdict.WRITE_ANEW if ledger else Verdict.WRITE
    if mine.batch > batch:
        raise FencedError(
            f"this attempt to write micro-batch {batch} is out of date: micro-batch {mine.batch} of its query is "
            f"written already"
        )
    last = ledger.entries[0]
    if last.query != query and now - last.at < IS_LIVE_S:
        raise FencedError(
            f"query {last.query} has written with the same 'sink.transactional-id-prefix' "
            f"{max(0, now - last.at):.0f} s ago, while query {query} is running. Give each query a prefix of its own"
        )
    return Verdict.SKIP if mine.batch == batch else Verdict.WRITE
