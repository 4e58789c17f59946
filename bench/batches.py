"""Wait for the micro-batches of a query."""

from __future__ import annotations

import time
from typing import Any

STUCK_S = 60.0


def await_batches(query: Any, count: int) -> list[Any]:
    """Return the progress of the first micro-batches that have records."""
    heard_at, last = time.monotonic(), None
    while True:
        progress = query.lastProgress
        if progress and progress["batchId"] != last:
            heard_at, last = time.monotonic(), progress["batchId"]
        if last is not None and last + 1 >= count:
            batches = [batch for batch in query.recentProgress if batch["numInputRows"]]
            if len(batches) >= count:
                return batches[:count]
        if query.exception() or time.monotonic() - heard_at > STUCK_S:
            raise RuntimeError(f"the query made {last} of {count} micro-batches: {query.exception()}")
        time.sleep(0.5)
