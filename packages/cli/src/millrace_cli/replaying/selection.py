"""Select dead letters: by what is wrong, when, where, and by a condition on their columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from confluent_kafka import Message

from millrace_cli.dead_letters import dead_letter_rows
from millrace_cli.row_filter import RowFilter

_RANGE = re.compile(r"(\d+):(\d+)(?:-(\d+)?)?")


@dataclass(frozen=True)
class DeadLetterSelection:
    """The dead letters to look at; every part must hold.

    Attributes:
        error: A part of the reason, in any case; None for any.
        since: The earliest time of the letter, in milliseconds since 1970; None for any.
        until: The time before which the letter is, as `since`.
        offsets: By partition of the topic of dead letters, first and last offset; empty for all.
        condition: What must be true of the letter's columns; None for any.
    """

    error: str | None = None
    since: int | None = None
    until: int | None = None
    offsets: Mapping[int, Sequence[tuple[int, float]]] | None = None
    condition: RowFilter | None = None

    def of(self, messages: Sequence[Message]) -> list[Message]:
        """Return the messages that are selected.

        Raises:
            CommandError: The condition is wrong.
        """
        chosen = list(filter(self._is_chosen, messages))
        rows = dead_letter_rows(chosen) if self.error is not None or self.condition is not None else None
        if rows is None:
            return chosen
        mask = [True] * len(chosen) if self.condition is None else self.condition.mask(rows)
        error = (self.error or "").lower()
        reasons = rows["reason"].to_pylist()
        return [
            message
            for message, keep, reason in zip(chosen, mask, reasons, strict=True)
            if keep and error in (reason or "").lower()
        ]

    def _is_chosen(self, message: Message) -> bool:
        time, offset = message.timestamp()[1], message.offset()
        ranges = None if not self.offsets else self.offsets.get(message.partition(), ())
        return (
            (self.since is None or time >= self.since)
            and (self.until is None or time < self.until)
            and (ranges is None or any(first <= offset <= last for first, last in ranges))
        )


def parse_offsets(texts: Sequence[str]) -> dict[int, list[tuple[int, float]]]:
    """Parse ranges of offsets such as ``0:17``, ``0:10-20`` and ``0:10-``.

    Raises:
        ValueError: One is none.
    """
    ranges: dict[int, list[tuple[int, float]]] = {}
    for text in texts:
        match = _RANGE.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"expected PARTITION:OFFSET or PARTITION:FIRST-LAST, such as 0:10-20, got {text!r}")
        first = int(match[2])
        last = float("inf") if match[0].endswith("-") else int(match[3] or first)
        if last < first:
            raise ValueError(f"expected a first offset that is not after the last, got {text!r}")
        ranges.setdefault(int(match[1]), []).append((first, last))
    return ranges
