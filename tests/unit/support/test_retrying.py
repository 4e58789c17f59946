from collections.abc import Callable
from concurrent.futures import Future

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer

from support.retrying import retried, retried_all, send


def answers(*codes: int) -> Callable[[], str]:
    """A request that fails with these codes before it succeeds."""
    left = list(codes)

    def request() -> str:
        if left:
            raise KafkaException(KafkaError(left.pop(0)))
        return "answer"

    return request


@pytest.mark.parametrize(
    "code",
    [
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.NOT_COORDINATOR,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._TRANSPORT,
    ],
)
def test_a_request_that_may_succeed_later_is_repeated(code: int) -> None:
    assert retried(answers(code, code)) == "answer"


@pytest.mark.parametrize("code", [KafkaError.TOPIC_ALREADY_EXISTS, KafkaError._FENCED, KafkaError._STATE])
def test_a_refusal_is_raised(code: int) -> None:
    with pytest.raises(KafkaException) as error:
        retried(answers(code, code))
    assert error.value.args[0].code() == code


def test_all_answers_of_an_admin_client_are_awaited_and_all_are_asked_for_again() -> None:
    loading, asked = answers(KafkaError.COORDINATOR_LOAD_IN_PROGRESS), []

    def request() -> dict[str, Future[str]]:
        asked.append(1)
        futures = {name: Future[str]() for name in ("a", "b")}
        futures["a"].set_result("of a")
        try:
            futures["b"].set_result(loading())
        except KafkaException as error:
            futures["b"].set_exception(error)
        return futures

    assert retried_all(request) == ["of a", "answer"]
    assert len(asked) == 2


def test_a_full_queue_is_waited_for() -> None:
    """Nobody answers at port 1, so a record makes room when it has expired."""
    settings = {"bootstrap.servers": "127.0.0.1:1", "queue.buffering.max.messages": 1, "message.timeout.ms": 100}
    producer = Producer({**settings, "log_level": 0})
    expired: list[str] = []
    for name in ("first", "second"):
        send(producer, "orders", name, on_delivery=lambda _, message: expired.append(message.value().decode()))
    assert expired == ["first"]
