"""Every property of Java's consumer and producer, Kafka 2.8 to 4.2, in a source and a sink."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from millrace.configuration.build import configure_sink, configure_source
from millrace.errors import OptionsError
from millrace.kafka.consumer import new_consumer
from millrace.kafka.java_properties import JAVA_PROPERTIES, STORE, Ignored, OtherMeans, Passed
from millrace.kafka.producer import KafkaProducer, producer_settings
from millrace.kafka.property_translation import translate
from support.certificates import authority, issue

NAMES: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).parents[3].joinpath("support/java_properties.json").read_text()
)
"""Versions whose consumer and producer have each name, as `configNames` of the jars of kafka-clients 2.8.2,
3.9.2, 4.1.1 and 4.2.0 lists them, and a value that Java accepts."""

BASE = {"topic": "orders", "properties.bootstrap.servers": "127.0.0.1:1"}

TOKENS = {
    "sasl.mechanism": "OAUTHBEARER",
    "sasl.login.callback.handler.class": "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler",
    "sasl.oauthbearer.token.endpoint.url": "https://127.0.0.1:1/token",
    "sasl.oauthbearer.client.credentials.client.id": "me",
    "sasl.oauthbearer.client.credentials.client.secret": "hush",
}
KEYSTORE = {"ssl.keystore.location": "{folder}/key.p12", "ssl.keystore.password": "changeit"}
INLINE = {"ssl.keystore.key": "{key}", "ssl.keystore.certificate.chain": "{chain}"}
COMPANIONS: dict[str, dict[str, str]] = {
    "sasl.jaas.config": {"sasl.mechanism": "PLAIN"},
    "ssl.keystore.location": KEYSTORE,
    "ssl.keystore.type": KEYSTORE,
    "ssl.keystore.password": KEYSTORE,
    "ssl.key.password": KEYSTORE,
    "ssl.keystore.key": INLINE,
    "ssl.keystore.certificate.chain": INLINE,
    "ssl.truststore.location": {"ssl.truststore.password": "changeit"},
    "ssl.truststore.password": {"ssl.truststore.location": "{folder}/trust.pem"},
    "ssl.truststore.type": {
        "ssl.truststore.location": "{folder}/trust.pem",
        "ssl.truststore.password": "changeit",
    },
    "sasl.login.callback.handler.class": TOKENS,
    "compression.gzip.level": {"compression.type": "gzip"},
    "compression.zstd.level": {"compression.type": "zstd"},
    **{name: TOKENS for name in NAMES if name.startswith("sasl.oauthbearer.") and ".assertion." not in name},
}
"""Properties that another one needs, in Java too."""


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Values for the parts in braces."""
    folder = tmp_path_factory.mktemp("files")
    root = authority("root")
    me = issue("me", root)
    (folder / "key.p12").write_bytes(me.pkcs12("changeit"))
    (folder / "trust.pem").write_text(root.certificate_pem)
    for name in ("assertion", "key.pem", "template.json"):
        (folder / name).write_text("{}")
    return {"folder": str(folder), "key": me.key_pem(), "chain": me.chain_pem, "trusted": root.certificate_pem}


def filled(text: str, places: dict[str, str]) -> str:
    for name, place in places.items():
        text = text.replace("{" + name + "}", place)
    return text


def given(name: str, places: dict[str, str]) -> dict[str, str]:
    """Options of a query that has a property, with those that it needs."""
    properties = {**COMPANIONS.get(name, {}), name: NAMES[name]["value"]}
    return {**BASE, **{f"properties.{key}": filled(value, places) for key, value in properties.items()}}


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """The messages in the log of options."""
    with caplog.at_level(logging.WARNING, "millrace.options"):
        yield caplog


def test_each_name_is_listed_with_what_becomes_of_it() -> None:
    assert JAVA_PROPERTIES.keys() == NAMES.keys()


@pytest.mark.parametrize("name", [name for name, entry in NAMES.items() if "consumer" in entry])
def test_a_consumer_can_be_made_with_each_property(name: str, places: dict[str, str]) -> None:
    new_consumer(configure_source(given(name, places)).client).close()


@pytest.mark.parametrize("name", [name for name, entry in NAMES.items() if "producer" in entry])
def test_a_producer_can_be_made_with_each_property(name: str, places: dict[str, str]) -> None:
    KafkaProducer(producer_settings(configure_sink(given(name, places)).client, idempotent=True))


@pytest.mark.parametrize("name", [name for name, handling in JAVA_PROPERTIES.items() if isinstance(handling, Passed)])
def test_what_is_passed_on_reaches_the_client(name: str, places: dict[str, str]) -> None:
    properties = {"bootstrap.servers": "127.0.0.1:1", **COMPANIONS.get(name, {}), name: NAMES[name]["value"]}
    handling = JAVA_PROPERTIES[name]
    assert isinstance(handling, Passed)
    client = translate({key: filled(value, places) for key, value in properties.items()}).client
    assert client.keys() >= set(handling.names or (name,))


@pytest.mark.parametrize("name", [name for name, handling in JAVA_PROPERTIES.items() if isinstance(handling, Ignored)])
def test_what_has_no_effect_is_said_with_the_reason(name: str) -> None:
    handling = JAVA_PROPERTIES[name]
    assert isinstance(handling, Ignored)
    servers = {"bootstrap.servers": "127.0.0.1:1"}
    warning = f"option 'properties.{name}' has no effect in millrace: {handling.reason}"
    assert translate({**servers, name: "another"}) == (servers, [], [warning])
    for value in handling.fitting:
        assert translate({**servers, name: value}) == (servers, [], [])


@pytest.mark.parametrize(
    ("properties", "client"),
    [
        ({"request.timeout.ms": "5000"}, {"request.timeout.ms": "5000", "socket.timeout.ms": "5000"}),
        ({"request.timeout.ms": "0"}, {"request.timeout.ms": "1", "socket.timeout.ms": "10"}),
        (
            {"request.timeout.ms": "90000", "transaction.timeout.ms": "60000"},
            {"request.timeout.ms": "90000", "socket.timeout.ms": "60000", "transaction.timeout.ms": "60000"},
        ),
        (
            {"request.timeout.ms": "90000", "socket.timeout.ms": "7"},
            {"request.timeout.ms": "90000", "socket.timeout.ms": "7"},
        ),
        ({"compression.lz4.level": "3"}, {"compression.level": "3"}),
        (
            {"compression.gzip.level": "3", "compression.type": "gzip"},
            {"compression.level": "3", "compression.type": "gzip"},
        ),
        (
            {"reconnect.backoff.ms": "20000"},
            {"reconnect.backoff.ms": "20000", "reconnect.backoff.max.ms": "20000"},
        ),
        ({"connections.max.idle.ms": "-1"}, {"connections.max.idle.ms": "0"}),
        ({"client.dns.lookup": "default"}, {"client.dns.lookup": "use_all_dns_ips"}),
        ({"batch.size": "0"}, {"batch.size": "1"}),
        (
            {"ssl.cipher.suites": "TLS_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"},
            {"ssl.cipher.suites": "ECDHE-RSA-AES128-GCM-SHA256"},
        ),
        (
            {"ssl.cipher.suites": "TLS_RSA_WITH_AES_256_CBC_SHA256,TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"},
            {"ssl.cipher.suites": "AES256-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305"},
        ),
    ],
)
def test_what_other_means_honour_reaches_the_client_by_them(properties: dict[str, str], client: dict[str, str]) -> None:
    servers = {"bootstrap.servers": "127.0.0.1:1"}
    assert translate({**servers, **properties}) == ({**servers, **client}, [], [])


def test_ciphers_of_javas_names_are_openssls() -> None:
    suites = "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"
    config = configure_sink({**BASE, "properties.security.protocol": "SSL", "properties.ssl.cipher.suites": suites})
    KafkaProducer(producer_settings(config.client, idempotent=True))
    with pytest.raises(OptionsError, match="no cipher match"):
        KafkaProducer(
            producer_settings(config.client, idempotent=True) | {"ssl.cipher.suites": "TLS_AES_128_GCM_SHA256"}
        )


@pytest.mark.parametrize(
    ("properties", "warning"),
    [
        ({"compression.zstd.level": "3"}, "has no effect in millrace: 'properties.compression.type' is 'lz4'"),
        ({"compression.lz4.level": "17"}, "= '17' is beyond what the Kafka client knows: 12 is used"),
        ({"linger.ms": "900001"}, "= '900001' is beyond what the Kafka client knows: 900000 is used"),
        ({"fetch.max.bytes": "500"}, "= '500' is beyond what the Kafka client knows: 1000 is used"),
        (
            {"ssl.cipher.suites": "TLS_AES_128_GCM_SHA256"},
            "has no effect in millrace: all cipher suites of TLS 1.3 are enabled",
        ),
    ],
)
def test_a_value_that_the_client_does_not_know_is_said(properties: dict[str, str], warning: str) -> None:
    (name,) = properties
    translation = translate({"bootstrap.servers": "127.0.0.1:1", **properties})
    assert (translation.problems, translation.warnings) == ([], [f"option 'properties.{name}' {warning}"])


def test_other_means_are_all_known() -> None:
    others = {name for name, handling in JAVA_PROPERTIES.items() if isinstance(handling, OtherMeans)}
    stores = {name for name in others if JAVA_PROPERTIES[name] is STORE}
    assert others - stores == {
        "auto.offset.reset",
        "compression.gzip.level",
        "compression.lz4.level",
        "compression.zstd.level",
        "request.timeout.ms",
        "sasl.jaas.config",
        "sasl.login.callback.handler.class",
    }


def test_an_empty_group_is_refused() -> None:
    # confluent-kafka ends the whole process
    assert translate({"bootstrap.servers": "127.0.0.1:1", "group.id": ""}).problems == [
        "option 'properties.group.id': expected the name of a consumer group; got ''"
    ]


@pytest.mark.parametrize("prefix", ["properties.", "kafka."])
def test_both_prefixes_behave_alike(prefix: str, warnings: pytest.LogCaptureFixture) -> None:
    options = {"topic": f"by-{prefix}", "properties.bootstrap.servers": "127.0.0.1:1"}
    config = configure_source({**options, f"{prefix}max.poll.records": "17"})
    assert config == configure_source(options)
    assert warnings.messages == [
        f"option '{prefix}max.poll.records' has no effect in millrace: 'scan.max-records-per-batch' bounds a "
        f"micro-batch, and records are fetched in batches by size"
    ]


WITHOUT_IDEMPOTENCE = [
    ("acks", "1", "all"),
    ("acks", "0", "all"),
    ("retries", "0", "at least 1"),
    ("max.in.flight.requests.per.connection", "6", "at most 5"),
]


@pytest.mark.parametrize(("name", "value", "_expected"), WITHOUT_IDEMPOTENCE)
def test_what_excludes_idempotence_turns_it_off_and_says_so(
    name: str, value: str, _expected: str, warnings: pytest.LogCaptureFixture
) -> None:
    options = {**BASE, "topic": f"{name}-{value}", f"properties.{name}": value}
    settings = producer_settings(configure_sink(options).client, idempotent=True)
    assert "enable.idempotence" not in settings
    KafkaProducer(settings)
    (warning,) = warnings.messages
    assert warning.startswith(f"option 'properties.{name}' = '{value}' turns the producer's idempotence off: ")


@pytest.mark.parametrize(("name", "value", "expected"), WITHOUT_IDEMPOTENCE)
@pytest.mark.parametrize(
    ("required", "by"),
    [
        (
            {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": "copy"},
            "'sink.delivery-guarantee' = 'exactly-once'",
        ),
        ({"properties.enable.idempotence": "true"}, "'properties.enable.idempotence' = 'true'"),
    ],
)
def test_where_idempotence_is_required_what_excludes_it_is_refused(
    name: str, value: str, expected: str, required: dict[str, str], by: str
) -> None:
    with pytest.raises(OptionsError) as error:
        configure_sink({**BASE, **required, f"properties.{name}": value})
    assert error.value.problems == (
        f"option 'properties.{name}': expected {expected}, which {by} requires; got {value!r}",
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [("acks", "all"), ("acks", "-1"), ("retries", "1"), ("max.in.flight.requests.per.connection", "5")],
)
def test_what_fits_idempotence_leaves_it_on(name: str, value: str, warnings: pytest.LogCaptureFixture) -> None:
    options = {**BASE, "topic": f"fits-{name}-{value}", f"properties.{name}": value}
    settings = producer_settings(configure_sink(options).client, idempotent=True)
    assert (settings["enable.idempotence"], warnings.messages) == ("true", [])
    KafkaProducer(settings)
