from __future__ import annotations

import pytest
from confluent_kafka import Consumer, KafkaError, Producer

from millrace.errors import OptionsError
from millrace.kafka.client_log import SECURITY_ERROR_GRACE_S, ClientLog
from millrace.kafka.error_hints import (
    advertised_addresses,
    explain_configuration_error,
    explain_security_error,
    is_security_error,
    protocol_mismatch_hint,
    redact,
)
from millrace.kafka.errors import configuration_errors
from millrace.kafka.retry import Clock

AT = "sasl_plaintext://127.0.0.1:9/bootstrap: "
SAID = "SASL authentication error: Authentication failed: Invalid username or password"
KNOWN = "sasl_plaintext://127.0.0.1:9/1: "
TOO_SOON = (
    "SASL OAUTHBEARER mechanism handshake failed: Broker: Request not valid in current SASL state: broker's supported "
    "mechanisms:  (after 23ms in state AUTH_HANDSHAKE)"
)
WRONG_PASSWORD = f"{AT}{SAID} (after 301ms in state AUTH_REQ)"


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        (WRONG_PASSWORD, "and that the broker knows this user for mechanism PLAIN"),
        (f"{AT}SASL PLAIN mechanism handshake failed: Broker: Unsupported SASL mechanism: ", "supports"),
        (f"{AT}SASL PLAIN mechanism handshake failed: Broker: Request not valid in current SASL state: ", "no SASL"),
        (
            "ssl://a:9/1: SSL handshake failed: Disconnected: connecting to a PLAINTEXT broker listener?",
            "not speak TLS",
        ),
        ("ssl://a:9/1: Receive failed: SSL routines::tlsv13 alert certificate required: 116", "client certificate"),
        ("ssl://a:9/1: Receive failed: SSL routines::ssl/tls alert bad certificate: 42", "client certificate"),
        ("Failed to acquire SASL OAUTHBEARER token: timed out", "'properties.sasl.oauthbearer.token.endpoint.url'"),
        ("SSL handshake failed: SSL routines::certificate verify failed", "'properties.ssl.truststore.location'"),
    ],
)
def test_what_does_not_pass_is_told_with_what_to_do(text: str, advice: str) -> None:
    assert is_security_error(text)
    assert advice in explain_security_error(text, {"sasl.mechanism": "PLAIN"})


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1:9/bootstrap: Connect to ipv4#127.0.0.1:9 failed: Connection refused (after 0ms in state CONNECT)",
        "1/1 brokers are down",
        "ssl://127.0.0.1:9/1: Disconnected: SSL connection closed by peer (after 5ms in state UP)",
        "a:9/bootstrap: Failed to resolve 'a:9': Name or service not known",
        f"{KNOWN}{TOO_SOON}",
        f"{KNOWN}SASL OAUTHBEARER mechanism handshake failed: Local: Broker transport failure: broker's supported "
        "mechanisms: (n/a) (after 0ms in state DOWN)",
    ],
)
def test_a_transient_error_is_no_security_error(text: str) -> None:
    assert not is_security_error(text)


@pytest.mark.parametrize(
    ("mechanism", "advice"),
    [("OAUTHBEARER", "The broker does not accept the token"), ("GSSAPI", "kerberos.service.name")],
)
def test_a_refused_login_is_told_in_the_mechanisms_own_words(mechanism: str, advice: str) -> None:
    assert advice in explain_security_error(WRONG_PASSWORD, {"sasl.mechanism": mechanism})


GSSAPI = "Failed to initialize SASL authentication: SASL handshake failed (start (-1)): SASL(-1): generic failure: "


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("GSSAPI Error: (No Kerberos credentials available)", "kinit got no ticket; it says why on standard error"),
        ("GSSAPI Error: (Ticket expired)", "must be shorter than tickets live"),
        ("Server kofka/a@R not found in Kerberos database", "Check 'properties.sasl.kerberos.service.name'"),
        ("Cannot contact any KDC for realm 'R'", "Check the realm and its KDC in /etc/krb5.conf"),
        ("no mechanism available: No worthy mechs found", "install libsasl2-modules-gssapi-mit or cyrus-sasl-gssapi"),
    ],
)
def test_a_login_by_kerberos_that_fails_is_told_with_what_to_do(text: str, advice: str) -> None:
    assert is_security_error(GSSAPI + text)
    assert advice in explain_security_error(GSSAPI + text, {"sasl.mechanism": "GSSAPI"})


def test_texts_are_shown_without_timing_and_without_quoted_options() -> None:
    assert redact(WRONG_PASSWORD).endswith("Invalid username or password")
    assert redact("refused (after 1ms in state AUTH_REQ, 3 identical error(s) suppressed)") == "refused"
    assert redact("Unrecognized sasl.oauthbearer.config beginning at: secret=hush\n more") == (
        "Unrecognized sasl.oauthbearer.config"
    )


AT_ONCE = "a:9/bootstrap: Disconnected: connection closed by peer (after 1ms in state APIVERSION_QUERY)"
LATER = "a:9/bootstrap: Disconnected: connection closed by peer (after 1ms in state UP)"


@pytest.mark.parametrize(
    ("logged", "protocol", "protocol_hint"),
    [
        (AT_ONCE, "PLAINTEXT", "set 'properties.security.protocol' to SSL, with PLAINTEXT there is no TLS"),
        (AT_ONCE, "SASL_PLAINTEXT", "set 'properties.security.protocol' to SASL_SSL, with SASL_PLAINTEXT"),
        (AT_ONCE, "SSL", None),
        (LATER, "PLAINTEXT", "set 'properties.security.protocol' to SASL_PLAINTEXT, and"),
        (LATER, "SSL", "set 'properties.security.protocol' to SASL_SSL, and"),
        (LATER, "SASL_SSL", None),
        ("a:9/bootstrap: Connection refused (after 1ms in state CONNECT)", "PLAINTEXT", None),
    ],
)
def test_closed_connections_hint_at_the_protocol(logged: str, protocol: str, protocol_hint: str | None) -> None:
    found = protocol_mismatch_hint(logged, {"security.protocol": protocol})
    assert found is None if protocol_hint is None else found and protocol_hint in found


@pytest.mark.parametrize("client", [Producer, Consumer])
def test_a_client_without_kerberos_is_told_with_how_to_get_one(client: type) -> None:
    settings = {"bootstrap.servers": "127.0.0.1:1", "group.id": "g", "security.protocol": "SASL_SSL"}
    with pytest.raises(OptionsError) as error, configuration_errors():
        client(settings)
    assert "the installed Kafka client has no Kerberos" in str(error.value)
    assert "--no-deps --no-binary confluent-kafka confluent-kafka" in str(error.value)


def test_what_is_not_known_is_told_in_the_clients_words() -> None:
    assert explain_configuration_error("No such configuration property: x") == "No such configuration property: x"


@pytest.mark.parametrize(("name", "hint"), [("max.pol.records", "max.poll.records'?"), ("xy", "see docs")])
def test_an_unknown_property_is_told_with_the_nearest(name: str, hint: str) -> None:
    with pytest.raises(OptionsError) as error, configuration_errors():
        Consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": "g", name: "1"})
    assert f"has no property {name!r}; " in str(error.value)
    assert hint in str(error.value)


def refused(client_log: ClientLog) -> None:
    client_log.settings()["error_cb"](KafkaError(KafkaError._AUTHENTICATION, WRONG_PASSWORD))


def test_a_refusal_is_remembered_until_it_is_forgotten() -> None:
    client_log = ClientLog({"sasl.mechanism": "PLAIN"})
    assert client_log.security_error() is None
    refused(client_log)
    assert "Check 'properties.sasl.username'" in str(client_log.security_error())
    client_log.clear()
    assert client_log.security_error() is None


def test_a_login_too_soon_after_the_last_one_is_no_refusal_and_told_once(caplog: pytest.LogCaptureFixture) -> None:
    client_log = ClientLog({"sasl.mechanism": "OAUTHBEARER"})
    for _ in range(3):
        client_log.settings()["error_cb"](KafkaError(KafkaError._AUTHENTICATION, f"{KNOWN}{TOO_SOON}"))
    assert client_log.security_error() is None
    assert "current SASL state" in client_log.recent_errors()
    (warning,) = caplog.messages
    assert "within a second of the last one" in warning
    assert "connections.max.reauth.ms" in warning


def test_a_login_of_a_client_that_may_not_have_logged_in_before_has_two_causes() -> None:
    advice = explain_security_error(f"{AT}{TOO_SOON}", {"sasl.mechanism": "OAUTHBEARER"})
    assert "expects no SASL" in advice
    assert "tokens that are valid for longer" in advice
    assert "tokens" not in explain_security_error(f"{AT}{TOO_SOON}", {"sasl.mechanism": "PLAIN"})


def test_a_refusal_must_last_where_brokers_may_be_starting() -> None:
    now = [100.0]
    client_log = ClientLog(clock=Clock(now=lambda: now[0]))
    refused(client_log)
    now[0] += SECURITY_ERROR_GRACE_S - 1
    refused(client_log)
    assert client_log.security_error(SECURITY_ERROR_GRACE_S) is None
    now[0] += 2
    assert client_log.security_error(SECURITY_ERROR_GRACE_S) is not None


def test_a_refusal_that_is_not_heard_again_is_over() -> None:
    now = [100.0]
    client_log = ClientLog(clock=Clock(now=lambda: now[0]))
    refused(client_log)
    now[0] += 16
    assert client_log.security_error() is None
    refused(client_log)
    assert client_log.security_error(SECURITY_ERROR_GRACE_S) is None


def test_the_clients_log_gives_hints() -> None:
    client_log = ClientLog({"security.protocol": "PLAINTEXT"})
    client_log.log(20, "%s [%s] %s", "FAIL", "rdkafka#producer-1", AT_ONCE)
    assert "as a listener with TLS does" in str(client_log.protocol_hint())
    client_log.clear()
    assert client_log.protocol_hint() is None


def test_addresses_that_brokers_have_told_have_an_id() -> None:
    failed = "Connect to ipv4#127.0.0.1:9 failed: Connection refused"
    told = f"0/1 brokers are down; a.b:9/1: {failed}; sasl_ssl://[::1]:9/22: {failed}; a.b:9/1: Disconnected"
    assert advertised_addresses(told) == {"a.b:9": 1, "[::1]:9": 22}
    assert advertised_addresses(f"{AT}{failed}; c:9/bootstrap: {failed}") == {}
