"""Causes that a query shows by itself: its failure, and the progress that Spark reports of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from millrace.checkpoint import ReportedOffset, StreamOffset, parse_reported_offset
from millrace.failures import sentence_of
from millrace.idle.model import Cause, CauseKind
from millrace.idle.topics import UNREACHABLE_REMEDY, open_transactions, total
from millrace.kafka.retry import poll
from millrace.monitoring.progress import PlanProgress, ReadProgress
from millrace.source.enumerator.admission_control import HeldBack

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery

_NO_ANSWER_S = 2.0
"""Seconds for which a query must be seen asking for offsets: brokers that are far away answer sooner."""

_LOOK_INTERVAL_S = 0.02
"""Seconds between two looks, so short that an idle query is not seen asking each time."""

_GETTING_OFFSETS, _PROCESSING = "Getting offsets from", "Processing new data"
"""Spark's words in the status of a query."""

_NO_OFFSETS = "the query is waiting for the brokers to tell how far its topics go, and they do not answer"

_HELD_BACK = {
    HeldBack.MIN_RECORDS: (
        CauseKind.MIN_RECORDS,
        "the next micro-batch waits for more messages (scan.min-records-per-batch)",
        "lower scan.min-records-per-batch, or scan.max-batch-delay, after which it comes in any case",
    ),
    HeldBack.ALIGNMENT: (
        CauseKind.ALIGNMENT,
        "partitions wait for others that are behind by their timestamps, or quiet (scan.watermark.alignment.max-drift)",
        "set scan.watermark.idle-timeout so that quiet partitions hold nobody back, or raise the max-drift",
    ),
    HeldBack.LIMIT: (
        CauseKind.READ_LIMIT,
        "each micro-batch reads a part only (scan.max-records-per-batch or scan.max-bytes-per-batch), and more waits",
        "raise or drop the limit if the query is to catch up faster",
    ),
}


def causes_of_query(query: StreamingQuery) -> list[Cause]:
    """Return the causes that a query shows by itself; none where its last progress shows none."""
    failure = query.exception()
    if failure is not None:
        return [Cause(CauseKind.FAILED, sentence_of(failure), "correct what it says, and start the query again")]
    if not query.isActive:
        return [Cause(CauseKind.STOPPED, "the query has ended or was stopped", "start it again")]
    progress = query.lastProgress
    sources = [] if progress is None else _sources(progress)
    if not sources:
        message = f"no micro-batch has been reported yet: {query.status.get('message', '')}"
        return [Cause(CauseKind.STARTING, message, "ask again in a moment")]
    if _waits_for_offsets(query):
        return [Cause(CauseKind.UNREACHABLE, _NO_OFFSETS, UNREACHABLE_REMEDY, {"last progress": progress.timestamp})]
    causes = [cause for latest, current in sources for cause in _of_source(latest, current)]
    causes += _filters([latest for latest, _ in sources], list(query.recentProgress))
    return causes or _under_way(query, progress)


def _waits_for_offsets(query: StreamingQuery) -> bool:
    """Return whether a query has been asking for the ends of its topics for longer than brokers take to answer."""

    def is_asking() -> bool:
        status = query.status
        return bool(status.get("isTriggerActive")) and str(status.get("message")).startswith(_GETTING_OFFSETS)

    return poll(is_asking, until=lambda asking: not asking, timeout_s=_NO_ANSWER_S, interval_s=_LOOK_INTERVAL_S)


def _under_way(query: StreamingQuery, last: Any) -> list[Cause]:
    if query.status.get("message") != _PROCESSING:
        return []
    message = "a micro-batch is being processed; it also waits for brokers that do not answer"
    remedy = "give the options of the read, so that brokers and topics are looked at, too"
    return [Cause(CauseKind.BEHIND, message, remedy, {"last progress": last.timestamp})]


def position_of(query: StreamingQuery) -> StreamOffset | None:
    """Return how far the first source of a query has read; None before its first progress."""
    progress = query.lastProgress
    sources = [] if progress is None else _sources(progress)
    return sources[0][1] if sources else None


def _sources(progress: Any) -> list[tuple[ReportedOffset, StreamOffset]]:
    parsed = (
        (parse_reported_offset(source.latestOffset), parse_reported_offset(source.endOffset))
        for source in progress.sources
    )
    return [(latest, current.offset) for latest, current in parsed if latest and current]


def _of_source(latest: ReportedOffset, current: StreamOffset) -> list[Cause]:
    plan = PlanProgress.from_json(latest.metrics)
    stable = latest.offset.positions
    backlog = total(current.positions, stable)
    if backlog and plan.held_back:
        kind, message, remedy = _HELD_BACK[HeldBack(plan.held_back)]
        unread = {str(p): end - current.positions.get(p, end) for p, end in stable.items()}
        return [Cause(kind, message, remedy, {"unread offsets": unread})]
    held = {p: high - stable.get(p, high) for p, high in plan.high_watermarks.items()}
    if not backlog and any(held.values()):
        return [open_transactions(held)]
    return []


def _filters(sources: Sequence[ReportedOffset], progresses: Sequence[Any]) -> list[Cause]:
    read = sum(
        counts.records for source in sources for counts in ReadProgress.from_json(source.metrics).partitions.values()
    )
    rows = sum(progress.numInputRows for progress in progresses)
    evidence = {"messages read": read, "rows read": rows}
    if read and not rows:
        message = "messages are read, and scan.header-filter lets none of them pass"
        return [
            Cause(CauseKind.FILTER, message, "compare the filter with the headers: millrace peek --metadata", evidence)
        ]
    written = [progress.sink.numOutputRows for progress in progresses if progress.numInputRows]
    # Spark knows the rows of some sinks only, and says -1 of the others
    if written and not any(written):
        message = "rows are read, and the query's own filters or joins let none of them pass"
        evidence["rows written"] = 0
        return [
            Cause(CauseKind.FILTER, message, "look at its conditions with rows of the topic: millrace peek", evidence)
        ]
    return []
