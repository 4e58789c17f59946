"""Dead letter collectors: keep the malformed messages that a query skips."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from millrace.contracts.plugin import Plugin

_SHOWN_BYTES = 120


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message that gives no rows because something is wrong with it.

    Its text describes the position, what is wrong, and the first bytes, as for a log.

    Attributes:
        topic: Its topic.
        partition: Its partition.
        offset: Its offset.
        timestamp: Its timestamp, in milliseconds since 1970; None when it has none.
        key: Its key; None when it has none.
        value: Its value; None for a tombstone.
        headers: Its headers, in order, repeats included.
        part: The part of it that is malformed.
        format: The format that cannot read that part.
        reason: What is wrong, in words for a person.
    """

    topic: str
    partition: int
    offset: int
    timestamp: int | None
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]]
    part: Literal["key", "value"]
    format: str
    reason: str

    def __str__(self) -> str:
        what, payload = ("key", self.key) if self.part == "key" else ("message", self.value)
        position = f"topic {self.topic!r}, partition {self.partition}, offset {self.offset}"
        return f"malformed {what} in {position}: {self.reason}{_describe_payload(payload)}"


class RecordProducer(Protocol):
    """Write records to topics of the cluster that the query reads from, with its client properties."""

    def produce(
        self,
        topic: str,
        *,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes | None]] = (),
    ) -> None:
        """Hand a record to the producer. The task succeeds only after the brokers have acknowledged it.

        Args:
            topic: One of `DeadLetterCollector.topics`.
            key: Its key; None for a record without one.
            value: Its value; None for a tombstone.
            headers: Its headers, in order.

        Raises:
            DeliveryError: Earlier records could not be delivered.
            MessageError: It is larger than the client accepts.
            PluginError: The topic is not one of `DeadLetterCollector.topics`.
        """


class DeadLetterCollector(Plugin, ABC):
    """Collect the malformed messages that a query skips, named in ``dirty-data.collector``.

    Its options are given as ``dirty-data.collector.<option>``. Built once on the driver and at the beginning of each
    task, most of which have no malformed message: open files and connections in the first `collect`.

    Spark may run a task again, which then collects the same messages once more: topic, partition and offset identify
    them. An exception of `collect` or `finish` fails the task.
    """

    @property
    def topics(self) -> Mapping[str, str]:
        """The topics that it produces to, each with the option that names it, without ``dirty-data.collector.``.

        The driver checks before the first task that they exist, that this client may write to them, and that the query
        does not read them. By default there are none.
        """
        return {}

    @abstractmethod
    def collect(self, letters: Sequence[DeadLetter], producer: RecordProducer) -> None:
        """Collect some messages of the task: one or more, of one partition, by ascending offset.

        Args:
            letters: The messages.
            producer: Writes records to `topics`; the same in each call of a task.
        """

    def finish(self) -> None:
        """Return when all messages of the task are where they belong, records of the producer excepted.

        Called once, at the end of a task that has read all of its messages, or more malformed ones than are
        tolerated; also where there was none. Close here what `collect` has opened.
        """


def _describe_payload(payload: bytes | None) -> str:
    if payload is None:
        return ". It is null"
    if len(payload) <= _SHOWN_BYTES:
        return f". It begins with {_quote(payload)}"
    # A character that the cut divides is left out
    end = next((end for end in range(_SHOWN_BYTES, _SHOWN_BYTES - 4, -1) if payload[end] & 0xC0 != 0x80), _SHOWN_BYTES)
    return f". It begins with {_quote(payload[:end])} (the first {end} of {len(payload)} bytes)"


def _quote(payload: bytes) -> str:
    # Bytes that are no text become lone surrogates, which repr writes as \udcXX: shown as the bytes they are
    return re.sub(r"\\udc([89a-f][0-9a-f])", r"\\x\1", repr(payload.decode("utf-8", "surrogateescape")))
