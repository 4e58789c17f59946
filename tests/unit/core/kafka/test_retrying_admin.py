"""Requests of an admin client that are tried again; real brokers are in the integration tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from millrace.errors import ClientError, UnknownTopicError, UnreachableError
from millrace.kafka.admin import KafkaAdmin
from millrace.kafka.outages import TOLD_AFTER_S
from millrace.kafka.retry import RETRY_TIMEOUT_S, Clock
from millrace.kafka.retrying_admin import UNKNOWN_TOPIC_TIMEOUT_S
from millrace.options.secrets import Properties
from support.waiting import sooner_than

NOWHERE = Properties({"bootstrap.servers": "127.0.0.1:1", "sasl.password": "hush"})
WITHOUT_PAUSES = Clock(sleep=lambda seconds: None)


def test_servers_that_do_not_answer_are_named_with_what_was_tried() -> None:
    with sooner_than(RETRY_TIMEOUT_S, "the retries of a minute"), pytest.raises(UnreachableError) as error:
        KafkaAdmin(NOWHERE, 1.0).topics(["orders"])
    message = str(error.value)
    assert message.startswith(
        "no Kafka broker answered within 1 s at 127.0.0.1:1 (option 'properties.bootstrap.servers') when looking up "
        "topics: "
    )
    assert "Connection refused" in message
    assert message.endswith(
        "Check the address and port, that the broker is running, that 'properties.security.protocol' is what its "
        "listener expects, and that the brokers' advertised.listeners can be reached "
        "from this machine"
    )
    assert "hush" not in message


def refusing(code: int) -> Callable[[float], None]:
    def request(timeout_s: float) -> None:
        raise KafkaException(KafkaError(code, "boo"))

    return request


def test_a_refusal_is_told_at_once_and_not_as_silence() -> None:
    with pytest.raises(ClientError, match=r"^looking up topics failed: boo \(CLUSTER_AUTHORIZATION_FAILED\)$") as error:
        KafkaAdmin(NOWHERE).call(refusing(KafkaError.CLUSTER_AUTHORIZATION_FAILED), "looking up topics")
    assert not isinstance(error.value, UnreachableError)


def test_a_transient_failure_is_retried() -> None:
    outcomes = iter(
        [refusing(KafkaError._TRANSPORT), refusing(KafkaError.FENCED_LEADER_EPOCH), lambda timeout_s: "answer"]
    )

    def request(timeout_s: float) -> object:
        return next(outcomes)(timeout_s)

    assert KafkaAdmin(NOWHERE, clock=WITHOUT_PAUSES).call(request, "looking up topics") == "answer"


class SilentClient:
    """An admin client whose metadata is never refreshed."""

    def poll(self, timeout_s: float) -> None: ...

    def list_topics(self, **_: Any) -> None: ...


@pytest.fixture
def now() -> list[float]:
    return [0.0]


@pytest.fixture
def admin(now: list[float]) -> KafkaAdmin:
    """An admin client whose pauses alone take time."""

    def sleep(seconds: float) -> None:
        now[0] += seconds

    client: Any = SilentClient()
    return KafkaAdmin(NOWHERE, clock=Clock(lambda: now[0], sleep), create_client=lambda settings: client)


def test_the_first_request_is_given_up_early_and_later_ones_late(admin: KafkaAdmin, now: list[float]) -> None:
    with pytest.raises(UnreachableError, match="within 5 s"):
        admin.call(refusing(KafkaError._TRANSPORT), "looking up topics")
    assert 4 < now[0] <= 5
    assert admin.call(lambda timeout_s: "answer", "looking up topics") == "answer"
    now[0] = 0
    with pytest.raises(UnreachableError, match="within 60 s"):
        admin.call(refusing(KafkaError._TRANSPORT), "looking up topics")
    assert RETRY_TIMEOUT_S - 1 < now[0] <= RETRY_TIMEOUT_S


def test_brokers_that_fall_silent_are_told_within_ten_seconds_and_when_they_are_back(
    admin: KafkaAdmin, now: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    admin.call(lambda timeout_s: "answer", "looking up topics")
    told_at: list[float] = []

    def request(timeout_s: float) -> str:
        if caplog.messages and not told_at:
            told_at.append(now[0])
        now[0] += timeout_s
        if now[0] < 30:
            admin._client_log._on_error(KafkaError(KafkaError._TRANSPORT, "h:1: Connection refused"))
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
        return "answer"

    assert admin.call(request, "looking up offsets") == "answer"
    assert told_at[0] < 10
    silent, back = caplog.messages
    assert silent == (
        "no answer from Kafka at 127.0.0.1:1 for 6 s when looking up offsets: h:1: Connection refused. It is waited "
        "for, up to 60 s"
    )
    assert back.startswith("Kafka at 127.0.0.1:1 answers again, after 3")


def test_a_topic_that_is_looked_for_is_no_silence(
    admin: KafkaAdmin, now: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    admin.call(lambda timeout_s: "answer", "looking up topics")
    with pytest.raises(UnknownTopicError):
        admin.call(refusing(KafkaError.UNKNOWN_TOPIC_OR_PART), "looking up offsets")
    assert now[0] > TOLD_AFTER_S
    assert caplog.messages == []


def test_a_topic_may_seem_to_be_gone_for_a_while_once_brokers_have_answered(
    admin: KafkaAdmin, now: list[float]
) -> None:
    unknown = refusing(KafkaError.UNKNOWN_TOPIC_OR_PART)
    with pytest.raises(UnknownTopicError):
        admin.call(unknown, "looking up offsets")
    assert now[0] == 0
    admin.call(lambda timeout_s: None, "looking up offsets")
    with pytest.raises(UnknownTopicError):
        admin.call(unknown, "looking up offsets")
    assert UNKNOWN_TOPIC_TIMEOUT_S <= now[0] < UNKNOWN_TOPIC_TIMEOUT_S + 1


def test_attempts_get_more_time_but_not_more_than_is_left(admin: KafkaAdmin, now: list[float]) -> None:
    timeouts: list[float] = []

    def request(timeout_s: float) -> None:
        timeouts.append(timeout_s)
        now[0] += timeout_s
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT))

    with pytest.raises(UnreachableError):
        admin.call(request, "looking up topics")
    assert timeouts == pytest.approx([1.0, 3.8])
