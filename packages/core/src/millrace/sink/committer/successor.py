"""Wait for the attempt of a task that has fenced another one."""

from __future__ import annotations

from collections.abc import Callable

from millrace.errors import ClientError
from millrace.kafka.retry import SYSTEM_CLOCK, Clock
from millrace.sink.committer.ledger import LedgerEntry

SUCCESSOR_TIMEOUT_S = 10.0
"""An attempt that was fenced waits this long for its successor to commit, or to show that it lives."""

SUCCESSOR_INTERVAL_S = 0.5
"""Pause between its look-ups of what has become of the successor."""


def successor_commits(
    has_committed: Callable[[], bool],
    last_heartbeat: Callable[[], LedgerEntry | None],
    timeout_s: float,
    limit_s: float,
    clock: Clock = SYSTEM_CLOCK,
) -> bool:
    """Wait while the attempt that has fenced this one lives, and return whether it has committed.

    An attempt that failed instead would be started again, and fence the one that is at work.

    Args:
        has_committed: Looks up whether the task's micro-batch is committed.
        last_heartbeat: Looks up the newest heartbeat of any attempt of the task.
        timeout_s: How long to wait for another heartbeat, in seconds.
        limit_s: How long to wait in all, however many heartbeats come, in seconds.
        clock: Measures both and waits.
    """
    fenced = clock.now()
    deadline, seen = fenced + timeout_s, None
    while True:
        try:
            if has_committed():
                return True
            heartbeat = last_heartbeat()
        except ClientError:
            heartbeat = seen
        now = clock.now()
        if heartbeat != seen:
            deadline, seen = now + timeout_s, heartbeat
        if now > min(deadline, fenced + limit_s):
            return False
        clock.sleep(SUCCESSOR_INTERVAL_S)
