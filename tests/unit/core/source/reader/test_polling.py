"""Polls of a consumer: how many messages are asked for, and whether they are waited for."""

from __future__ import annotations

from confluent_kafka import Message

from millrace.kafka.client_log import ClientLog
from millrace.kafka.consumer import KafkaConsumer
from millrace.source.reader.polling import FEW_MESSAGES, MAX_BATCH_MESSAGES, POLL_TIMEOUT_S, Poller

MANY = 10 * FEW_MESSAGES


class Queue:
    """A client that has fetched some messages; notes what it is asked for."""

    def __init__(self, count: int) -> None:
        self.queue = [Message(topic="a", partition=0, offset=offset) for offset in range(count)]
        self.asked: list[tuple[int, float]] = []

    def consume(self, count: int, timeout: float) -> list[Message]:
        self.asked.append((count, timeout))
        taken, self.queue = self.queue[:count], self.queue[count:]
        return taken


def poller(client: Queue, *, singly: bool = True) -> Poller:
    return Poller(KafkaConsumer(client, ClientLog()), fetches_singly=singly)


def test_messages_are_waited_for_as_many_as_are_asked_for() -> None:
    client = Queue(MANY)
    polled, is_drained = poller(client, singly=False).poll(MANY, MANY)
    assert (len(polled), is_drained, client.asked) == (MANY, False, [(MANY, POLL_TIMEOUT_S)])


def test_no_more_is_waited_for_than_the_first_message_of_a_single_fetch() -> None:
    client = Queue(MANY // 2)
    polled, is_drained = poller(client).poll(MANY, MANY)
    assert (len(polled), is_drained) == (MANY // 2, True)
    assert client.asked == [(1, POLL_TIMEOUT_S), (MANY - 1, 0)]


def test_what_is_left_of_a_single_fetch_is_not_waited_for() -> None:
    client = Queue(MANY + 10)
    polling = poller(client)
    polling.poll(MANY, 2 * MANY)
    client.asked.clear()
    polled, is_drained = polling.poll(MANY, MANY)
    assert (len(polled), is_drained, client.asked) == (10, True, [(MANY, 0)])


def test_a_single_fetch_that_ended_with_a_poll_is_followed_by_another_one() -> None:
    client = Queue(MANY)
    polling = poller(client)
    polling.poll(MANY, 2 * MANY)
    client.asked.clear()
    polled, is_drained = polling.poll(MANY, MANY)
    assert (polled, is_drained, client.asked) == ([], True, [(MANY, 0), (1, POLL_TIMEOUT_S)])


def test_few_messages_come_with_one_call() -> None:
    client = Queue(FEW_MESSAGES)
    polled, is_drained = poller(client).poll(FEW_MESSAGES, FEW_MESSAGES)
    assert (len(polled), is_drained, client.asked) == (FEW_MESSAGES, False, [(FEW_MESSAGES, POLL_TIMEOUT_S)])


def test_the_rest_is_all_that_has_been_fetched() -> None:
    client = Queue(MAX_BATCH_MESSAGES + 1)
    polling = poller(client)
    assert [(len(polled), is_all) for polled, is_all in (polling.rest(), polling.rest())] == [
        (MAX_BATCH_MESSAGES, False),
        (1, True),
    ]
    assert {timeout for _, timeout in client.asked} == {0}
