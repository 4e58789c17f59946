from __future__ import annotations

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer

from millrace.errors import ClientError, MillraceError, OptionsError, UnknownTopicError
from millrace.kafka.errors import client_errors, configuration_errors, kafka_error

CODES = {name: code for name in dir(KafkaError) if isinstance(code := getattr(KafkaError, name), int)}
NO_TOPIC = {"UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC", "_UNKNOWN_PARTITION"}


def translated(code: int, text: str = "boo") -> MillraceError:
    with pytest.raises(MillraceError) as error, client_errors("reading orders-0"):
        raise KafkaException(KafkaError(code, text))
    return error.value


def test_the_clients_codes_are_known_to_this_test() -> None:
    assert len(CODES) > 100
    assert CODES.keys() >= NO_TOPIC


@pytest.mark.parametrize("name", sorted(CODES))
def test_every_code_becomes_an_error_that_says_what_was_done_and_what_went_wrong(name: str) -> None:
    error = translated(CODES[name])
    assert type(error) is (UnknownTopicError if name in NO_TOPIC else ClientError)
    assert str(error) == f"reading orders-0 failed: boo ({KafkaError(CODES[name]).name()})"
    assert isinstance(error.__cause__, KafkaException)


def test_other_errors_pass_through() -> None:
    with pytest.raises(ZeroDivisionError), client_errors("reading orders-0"):
        _ = 1 / 0


def test_an_error_that_is_translated_already_stays_as_it_is() -> None:
    with pytest.raises(ClientError, match=r"^looking up orders failed"), client_errors("reading orders-0"):
        translate_inside()


def translate_inside() -> None:
    with client_errors("looking up orders"):
        raise KafkaException(KafkaError(KafkaError._TRANSPORT))


def test_the_error_inside_an_exception_is_found() -> None:
    inside = KafkaError(KafkaError._TRANSPORT)
    assert kafka_error(KafkaException(inside)) is inside
    assert kafka_error(inside) is inside


@pytest.mark.parametrize("client", [Producer, Consumer])
@pytest.mark.parametrize(
    ("settings", "subject", "expected"),
    [
        (
            {"no.such.property": "1"},
            "option 'properties.no.such.property'",
            "it has no property 'no.such.property'; see docs/client-properties.md",
        ),
        (
            {"message.max.bytes": "large"},
            "option 'properties.message.max.bytes'",
            'Invalid value for configuration property "message.max.bytes"',
        ),
        (
            {"message.max.bytes": "1"},
            "option 'properties.message.max.bytes'",
            'Configuration property "message.max.bytes" value 1 is outside allowed range',
        ),
        (
            {"security.protocol": "tls"},
            "option 'properties.security.protocol'",
            'Invalid value "tls" for configuration property "security.protocol"',
        ),
        (
            {"socket.keepalive.enable": "perhaps"},
            "option 'properties.socket.keepalive.enable'",
            'Expected bool value for "socket.keepalive.enable"',
        ),
        ({"stats_cb": "x"}, "an option 'properties.*'", "expected stats_cb property as a callable function"),
    ],
)
def test_what_a_client_does_not_accept_is_an_options_error(
    client: type, settings: dict[str, str], subject: str, expected: str
) -> None:
    with pytest.raises(OptionsError) as error, configuration_errors():
        client({"bootstrap.servers": "127.0.0.1:1", "group.id": "g", **settings})
    (problem,) = error.value.problems
    assert problem.startswith(f"the Kafka client refuses {subject}: {expected}")
    assert problem == problem.strip()


def test_a_refused_key_is_not_shown() -> None:
    with pytest.raises(OptionsError) as error, configuration_errors():
        Producer({"bootstrap.servers": "127.0.0.1:1", "security.protocol": "SSL", "ssl.key.pem": "hush"})
    assert "ssl.key.pem" in str(error.value)
    assert "hush" not in str(error.value)
