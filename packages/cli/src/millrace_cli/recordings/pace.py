"""The times at which the messages of a recording are written."""

from __future__ import annotations

from millrace.kafka.retry import SYSTEM_CLOCK, Clock
from millrace_cli.recordings.contents import Extent


class Pace:
    """Write messages with the gaps between them that they were recorded with, or shorter or longer ones.

    Args:
        speed: How many times as fast; None for as fast as possible.
        clock: Measures the time.
    """

    def __init__(self, speed: float | None, clock: Clock = SYSTEM_CLOCK) -> None:
        self._speed = speed
        self._clock = clock
        self._began: tuple[float, int] | None = None

    def wait_s(self, timestamp: int | None) -> float:
        """Return how long to wait before a message is written, in seconds; the first one is not waited for.

        Args:
            timestamp: Its timestamp in the recording, in ms; None for none, which is not waited for either.
        """
        if self._speed is None or timestamp is None:
            return 0.0
        now = self._clock.now()
        if self._began is None:
            self._began = now, timestamp
        start, first = self._began
        return max(0.0, start + (timestamp - first) / 1000 / self._speed - now)


def written_time_note(extent: Extent, shift: int) -> str | None:
    """Return what to tell people about messages that get the time at which they are written; None if none do.

    Args:
        extent: The extent of the recording.
        shift: By how many milliseconds timestamps are moved.
    """
    # librdkafka takes 0 for no timestamp, https://github.com/confluentinc/librdkafka/blob/master/src/rdkafka.h
    has_zero = extent.oldest is not None and extent.oldest + shift <= 0
    kinds = [*(["have no timestamp"] if extent.without_time else []), *(["have the timestamp 0"] if has_zero else [])]
    if not kinds:
        return None
    return f"some messages {' or '.join(kinds)}: they get the time at which they are written"


def shift_to_now(extent: Extent, speed: float | None, now_ms: int) -> int:
    """Return by how many milliseconds to move timestamps so that they are as new as they can be.

    No message is from the future when it is written: brokers refuse those of more than an hour
    (``message.timestamp.after.max.ms``).

    Args:
        extent: The extent of the recording.
        speed: As for `Pace`.
        now_ms: When the first message is written, in ms since 1970.
    """
    if extent.oldest is None or extent.newest is None:
        return 0
    span = extent.newest - extent.oldest
    written_for = 0 if speed is None else int(span / speed)
    return now_ms - extent.oldest - max(0, span - written_for)
