"""Codes of librdkafka that millrace relies on; they fail here first if the client changes them."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError, KafkaException

from millrace.kafka.errors import END_OF_LOG_CODES, UNKNOWN_TOPIC_CODES, is_transient, is_transient_exception


def test_the_ends_of_a_log_and_unknown_topics_have_the_codes_of_librdkafkas_header() -> None:
    assert {-191, -140, 1} == END_OF_LOG_CODES
    assert {3, -188, -190} == UNKNOWN_TOPIC_CODES


@pytest.mark.parametrize("code", [*END_OF_LOG_CODES, *UNKNOWN_TOPIC_CODES, KafkaError._FENCED, KafkaError._STATE])
def test_what_retrying_does_not_change_is_not_transient(code: int) -> None:
    assert not is_transient(KafkaError(code))


@pytest.mark.parametrize(
    "code",
    [KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._DESTROY_BROKER, KafkaError.NOT_COORDINATOR],
)
def test_brokers_that_are_away_are_a_transient_failure(code: int) -> None:
    assert is_transient(KafkaError(code))


def test_only_exceptions_that_hold_a_transient_error_are_transient() -> None:
    transient, lasting = KafkaError(KafkaError.COORDINATOR_LOAD_IN_PROGRESS), KafkaError(KafkaError._STATE)
    assert is_transient_exception(KafkaException(transient))
    assert not is_transient_exception(KafkaException(lasting))
    assert not is_transient_exception(ValueError(transient))
