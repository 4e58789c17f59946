"""Stop a query at the end of its bounded sources: Spark lets no source end its query itself."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from millrace.checkpoint import StreamOffset, parse_reported_offset
from millrace.errors import OptionsError

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery

PAUSE_S = 0.1


def await_end(query: StreamingQuery, timeout_s: float | None = None) -> bool:
    """Wait until a query has read all its sources up to ``scan.bounded.mode``, and stop it.

    With the trigger ``availableNow``, a query ends by itself. Use this function with all other triggers.

    Args:
        query: A query of a classic or a Connect session, all sources of which are millrace's and bounded.
        timeout_s: How long to wait, in seconds; unlimited by default.

    Returns:
        Whether the query has ended.

    Raises:
        OptionsError: A source of the query is not bounded.
        StreamingQueryException: The query failed.
    """
    deadline = None if timeout_s is None else time.monotonic() + timeout_s
    while query.isActive:
        if _is_at_end(query):
            query.stop()
            return True
        if deadline is not None and time.monotonic() >= deadline:
            return False
        time.sleep(PAUSE_S)
    # Raises what ended the query, if anything did
    return query.awaitTermination(0) is not False


def _is_at_end(query: StreamingQuery) -> bool:
    progress = query.lastProgress
    if progress is None:
        return False
    # A query that has found nothing to read has no end offset
    reported_offsets = [
        parse_reported_offset(source.endOffset) or parse_reported_offset(source.latestOffset)
        for source in progress.sources
    ]
    return all(reported is not None and _has_stopped(reported.offset) for reported in reported_offsets)


def _has_stopped(offset: StreamOffset) -> bool:
    if not offset.is_bounded:
        raise OptionsError("source", ("the stream is not bounded: give the option 'scan.bounded.mode'",))
    return all(map(offset.has_stopped, offset.positions))
