from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition

from millrace.kafka.consumer import consume_to_end, raise_partition_errors
from millrace.kafka.retry import Clock


class Script:
    """A consumer that gets these messages, and then none; each call takes a second."""

    def __init__(self, *messages: Message) -> None:
        self._messages = list(messages)
        self.now = 0.0

    def consume(self, count: int, wait_s: float) -> list[Message]:
        self.now += 1
        messages, self._messages = self._messages[:count], self._messages[count:]
        return messages


def message(code: int | None = None, offset: int = 7) -> Message:
    error = None if code is None else KafkaError(code)
    return Message(topic="orders", partition=0, offset=offset, value=b"v", error=error)


def consume(*messages: Message) -> list[int | None]:
    """Return offsets, and None for an end."""
    script: Any = Script(*messages)
    found = consume_to_end(script, 2, timeout_s=10, clock=Clock(now=lambda: script.now))
    return [None if each is None else each.offset() for partition, each in found if partition == ("orders", 0)]


@pytest.mark.parametrize(
    "end", [KafkaError._PARTITION_EOF, KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE]
)
def test_messages_and_ends_are_yielded_as_they_come(end: int) -> None:
    assert consume(message(offset=1), message(offset=2), message(end)) == [1, 2, None]


def test_transient_failures_are_passed_over() -> None:
    assert consume(message(KafkaError._TRANSPORT), message(offset=3)) == [3]


def test_another_failure_is_raised() -> None:
    with pytest.raises(KafkaException):
        consume(message(KafkaError.TOPIC_AUTHORIZATION_FAILED))


def test_an_answer_for_several_partitions_fails_with_one_of_them() -> None:
    class Result:
        error = KafkaError(KafkaError.NOT_COORDINATOR)

    failed: Any = Result()
    assert raise_partition_errors([TopicPartition("orders", 0)]) == [TopicPartition("orders", 0)]
    with pytest.raises(KafkaException):
        raise_partition_errors([TopicPartition("orders", 0), failed])
