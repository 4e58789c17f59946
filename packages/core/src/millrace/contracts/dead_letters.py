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

    ``str()`` describes its position, the problem and its first bytes.

    Attributes:
        topic: Its topic.
        partition: Its partition.
        offset: Its offset.
        timestamp: Its timestamp, in milliseconds since 1970; None when it has none.
        key: Its key; None when it has none.
        value: Its value; None for a tombstone.
        headers: Its headers, in order, repeats included.
        part: The malformed part.
        format: The format that cannot decode this part.
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
    """Writes records to the cluster that the query reads from, with its client properties."""

    def produce(
        self,
        topic: str,
        *,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes | None]] = (),
    ) -> None:
        """Send a record. The task succeeds only after the brokers have acknowledged it.

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
    """Collects the malformed messages that a query skips. ``dirty-data.collector`` names the plugin.

    Its options are ``dirty-data.collector.<option>``. Created once on the driver, and at the beginning of each task.
    Most tasks have no malformed messages, so open files and connections in the first call of `collect`.

    If Spark repeats a task, it collects the same messages again; topic, partition and offset identify them. An
    exception in `collect` or `finish` fails the task.
    """

    @property
    def topics(self) -> Mapping[str, str]:
        """The topics that it writes to, each with the name of its option, without ``dirty-data.collector.``.

        Before the first task, the driver checks that they exist, that this client may write to them, and that the query
        does not read them. The default is no topics.
        """
        return {}

    @abstractmethod
    def collect(self, letters: Sequence[DeadLetter], producer: RecordProducer) -> None:
        """Collect messages of the task: at least one, from one partition, in ascending order of their offsets.

        Args:
            letters: The messages.
            producer: Writes records to `topics`. A task always passes the same one.
        """

    def finish(self) -> None:
        """Wait until all messages of the task are stored. The task itself waits for records of the producer.

        Called once, at the end of every task that has read all of its messages or has exceeded the limit of malformed
        messages, even if `collect` was never called. Close here what `collect` has opened.
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
