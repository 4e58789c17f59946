"""Show the newest messages of a topic, and those that come after them."""

from __future__ import annotations

import itertools
import sys
from time import monotonic
from typing import NamedTuple

from confluent_kafka import Message

from millrace_cli.peeking.decoder_choice import DecoderChoice
from millrace_cli.peeking.decoding import DecodedMessages, MessageDecoder
from millrace_cli.peeking.printing import RowPrinter
from millrace_cli.peeking.topic_messages import TopicMessages
from millrace_cli.peeking.topic_read import print_note
from millrace_cli.row_filter import RowFilter

MAX_SEARCHED = 10_000
"""Messages that are searched for rows that fulfil a condition."""

_SEARCH_FACTOR = 8


class Following(NamedTuple):
    """The bounds of following a topic.

    Attributes:
        limit: How many rows to show; None for any number.
        deadline: When to end, by the monotonic clock.
    """

    limit: int | None
    deadline: float


def peek_topic(
    choice: DecoderChoice, condition: RowFilter | None, printer: RowPrinter, count: int, following: Following | None
) -> int:
    """Show the newest messages of a topic, and those that come after them.

    Args:
        choice: The topic, and how to read it.
        condition: The rows to show; None for all.
        printer: Prints them.
        count: The number of newest messages.
        following: How long to follow the topic; None for not at all.

    Returns:
        The number of malformed messages.

    Raises:
        KeyboardInterrupt: Ctrl-C has ended it.
        MillraceError: The topic cannot be read, or not in this way.
    """
    messages = choice.read.messages()
    if following is not None:
        messages.wait(following.deadline)
    shown = _Peek(messages, choice.decoder(messages), condition, printer)
    shown.show_newest(count)
    if following is not None:
        shown.follow(following)
    return shown.malformed


class _Peek:
    """A look at a topic.

    Args:
        messages: Its messages.
        decoder: Decodes them.
        condition: The rows to show; None for all.
        printer: Prints them.

    Attributes:
        malformed: The number of malformed messages so far.
    """

    def __init__(
        self, messages: TopicMessages, decoder: MessageDecoder, condition: RowFilter | None, printer: RowPrinter
    ) -> None:
        self._messages = messages
        self._decoder = decoder
        self._condition = condition
        self._printer = printer
        self.malformed = 0

    def show_newest(self, count: int) -> None:
        """Show the newest messages, or the newest that fulfil the condition."""
        searched = count
        while True:
            newest = self._messages.newest(searched)
            decoded = self._decode(newest)
            if decoded.rows.num_rows >= count or len(newest) < searched or searched == MAX_SEARCHED:
                break
            if self._condition is None:
                break
            searched = min(searched * _SEARCH_FACTOR, MAX_SEARCHED)
        row_count = decoded.rows.num_rows
        if self._condition is not None and row_count < count and len(newest) == MAX_SEARCHED:
            print_note(f"only the newest {MAX_SEARCHED} messages were searched")
        self._printer.print(decoded.rows if self._condition is None else decoded.rows.slice(max(0, row_count - count)))
        self._report(decoded, count)
        if self.malformed:
            print_note(f"{self.malformed} of {len(newest)} messages are malformed")

    def follow(self, following: Following) -> None:
        """Show messages as they come."""
        left = following.limit or sys.maxsize
        for some in itertools.takewhile(lambda _: monotonic() < following.deadline, self._messages.follow()):
            if not some:
                continue
            decoded = self._decode(some)
            self._printer.print(decoded.rows.slice(0, left))
            self._report(decoded, len(some))
            left -= decoded.rows.num_rows
            if left <= 0:
                return

    def _decode(self, messages: list[Message]) -> DecodedMessages:
        decoded = self._decoder.decode(messages)
        return decoded if self._condition is None else decoded._replace(rows=self._condition.apply(decoded.rows))

    def _report(self, decoded: DecodedMessages, shown: int) -> None:
        for record in decoded.malformed[-shown:]:
            print_note(str(record))
        self.malformed += len(decoded.malformed)
