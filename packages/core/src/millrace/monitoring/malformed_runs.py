"""Runs of malformed messages in the order of a partition, and how those of neighbouring ranges join."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import groupby
from typing import NamedTuple


class MalformedRuns(NamedTuple):
    """The malformed messages in a row among some messages.

    Attributes:
        leading: Those before the first message that is sound.
        longest: The most in a row.
        trailing: Those behind the last message that is sound.
        has_sound: Whether any message is sound.
    """

    leading: int = 0
    longest: int = 0
    trailing: int = 0
    has_sound: bool = False

    @classmethod
    def of(cls, malformed: Sequence[bool]) -> MalformedRuns:
        """Return the runs of messages.

        Args:
            malformed: Whether each message is malformed, in order.
        """
        lengths = [(is_malformed, len(list(group))) for is_malformed, group in groupby(malformed)]
        runs = [length for is_malformed, length in lengths if is_malformed]
        return cls(
            leading=lengths[0][1] if malformed and malformed[0] else 0,
            longest=max(runs, default=0),
            trailing=lengths[-1][1] if malformed and malformed[-1] else 0,
            has_sound=not all(malformed),
        )

    def then(self, later: MalformedRuns) -> MalformedRuns:
        """Return the runs of these messages and later ones together."""
        return MalformedRuns(
            self.leading if self.has_sound else self.leading + later.leading,
            max(self.longest, later.longest, self.trailing + later.leading),
            later.trailing if later.has_sound else self.trailing + later.trailing,
            self.has_sound or later.has_sound,
        )


SOUND = MalformedRuns(has_sound=True)
"""The runs of messages all of which are sound."""


class RangeRuns(NamedTuple):
    """The runs of the messages in a range of offsets.

    Attributes:
        start: The first offset.
        end: The offset after the last one.
        runs: The runs.
    """

    start: int
    end: int
    runs: MalformedRuns

    @property
    def tail(self) -> RangeRuns:
        """The malformed messages at the end, which is all that later ranges need."""
        trailing = self.runs.trailing
        return RangeRuns(self.start, self.end, MalformedRuns(trailing, trailing, trailing, self.runs.has_sound))


def joined(ranges: Iterable[RangeRuns]) -> list[RangeRuns]:
    """Join ranges of a partition that follow each other; between others, messages may be sound."""
    return reduce(_append, sorted(ranges), [])


def _append(before: list[RangeRuns], later: RangeRuns) -> list[RangeRuns]:
    if not before or before[-1].end != later.start:
        return [*before, later]
    last = before[-1]
    return [*before[:-1], RangeRuns(last.start, later.end, last.runs.then(later.runs))]
