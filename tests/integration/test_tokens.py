"""Tokens of a real authorization server, whose signatures a real broker verifies, and which expire."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jwt
import pytest
from pyspark.errors import PySparkException

from millrace.configuration.build import configure_sink
from millrace.kafka.producer import KafkaProducer, producer_settings
from support.tiers import nightly_but
from support.token_endpoint import CLIENT_ID, CLIENT_SECRET, TokenEndpoint, token_endpoint
from support.waiting import PATIENCE_S, wait_until

OAUTH = "org.apache.kafka.common.security.oauthbearer"
LOGIN = f"{OAUTH}.OAuthBearerLoginModule"
TOPIC = "tokens"


@dataclass(frozen=True)
class Authorized:
    """A broker that accepts the tokens of an authorization server alone."""

    broker: Any
    endpoint: TokenEndpoint

    def options(self, **properties: str) -> dict[str, str]:
        given = {
            "topic": TOPIC,
            "properties.bootstrap.servers": self.broker.address("OAUTH"),
            "properties.security.protocol": "SASL_PLAINTEXT",
            "properties.sasl.mechanism": "OAUTHBEARER",
        }
        return {**given, **{f"properties.{name.replace('_', '.')}": value for name, value in properties.items()}}

    def provider(self, secret: str = CLIENT_SECRET) -> dict[str, str]:
        """Options that name a token provider."""
        own = {"url": self.endpoint.url, "client-id": CLIENT_ID, "client-secret": secret}
        return {
            **self.options(sasl_oauthbearer_provider="support.provided_tokens:EndpointTokens"),
            **{f"properties.sasl.oauthbearer.provider.{name}": value for name, value in own.items()},
        }


@pytest.fixture(scope="module")
def authorized(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Authorized]:
    from millrace_broker import KafkaBroker, Listener

    with token_endpoint() as endpoint:
        oauth = {
            "sasl.enabled.mechanisms": "OAUTHBEARER",
            "oauthbearer.sasl.jaas.config": f"{LOGIN} required;",
            "oauthbearer.sasl.server.callback.handler.class": f"{OAUTH}.OAuthBearerValidatorCallbackHandler",
            "oauthbearer.sasl.oauthbearer.jwks.endpoint.url": f"{endpoint.url}/jwks",
            "oauthbearer.sasl.oauthbearer.expected.audience": "kafka",
            # Connections end with their tokens, unless they log in again (KIP-368)
            "oauthbearer.connections.max.reauth.ms": "3600000",
        }
        # Clients log in again after 90 % of that, and brokers refuse it within a second
        hasty = {**oauth, "oauthbearer.connections.max.reauth.ms": "1050"}
        broker = KafkaBroker(
            listeners=[
                Listener("OPEN"),
                Listener("OAUTH", "SASL_PLAINTEXT", config=oauth),
                Listener("HASTY", "SASL_PLAINTEXT", config=hasty),
            ],
            data_dir=tmp_path_factory.mktemp("kafka"),
            java_options=[f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={endpoint.url}/jwks"],
        )
        with broker:
            broker.create_topic(TOPIC)
            yield Authorized(broker, endpoint)


def expiry(token: str) -> int:
    return jwt.decode(token, options={"verify_signature": False})["exp"]


def write(spark: Any, options: dict[str, str], value: str) -> None:
    spark.sql(f"SELECT '{value}' AS value").write.format("millrace").options(**options).mode("append").save()


def read(spark: Any, options: dict[str, str]) -> list[str]:
    rows = spark.read.format("millrace").options(**options).schema("value BINARY").load().collect()
    return [row.value.decode() for row in rows]


WAYS = {
    "token provider": lambda a: a.provider(),
    "OIDC in names of Java": lambda a: a.options(
        sasl_login_callback_handler_class=f"{OAUTH}.OAuthBearerLoginCallbackHandler",
        sasl_oauthbearer_token_endpoint_url=f"{a.endpoint.url}/token",
        sasl_jaas_config=f'{LOGIN} required clientId="{CLIENT_ID}" clientSecret="{CLIENT_SECRET}" scope="kafka";',
    ),
    "OIDC in names of librdkafka": lambda a: a.options(
        sasl_oauthbearer_method="oidc",
        sasl_oauthbearer_token_endpoint_url=f"{a.endpoint.url}/token",
        sasl_oauthbearer_client_id=CLIENT_ID,
        sasl_oauthbearer_client_secret=CLIENT_SECRET,
    ),
}


@pytest.mark.parametrize("way", nightly_but(WAYS, "token provider", "OIDC in names of Java"))
def test_rows_are_written_and_read_with_a_signed_token(spark, authorized, way):
    options = WAYS[way](authorized)
    issued = len(authorized.endpoint.issued)

    write(spark, options, way)

    assert read(spark, options).count(way) == 1
    assert len(authorized.endpoint.issued) > issued


def test_a_token_without_a_valid_signature_is_refused_by_the_broker(spark, authorized):
    options = authorized.options(sasl_oauthbearer_provider="support.provided_tokens:FixedToken")

    with pytest.raises(PySparkException, match="does not accept the token") as raised:
        read(spark, options)

    assert "fixed-5ecret" not in str(raised.value)


def test_a_login_that_is_refused_as_too_soon_after_the_last_one_stops_nothing(authorized):
    address = {"properties.bootstrap.servers": authorized.broker.address("HASTY")}
    config = configure_sink({**authorized.provider(), **address})
    producer = KafkaProducer(producer_settings(config.client, idempotent=True))

    def is_refused() -> bool:
        producer.client.produce(TOPIC, b"hasty")
        producer.poll()
        return "current SASL state" in producer.client_log.recent_errors()

    wait_until(is_refused, "the broker to refuse a login")
    assert producer.client_log.security_error() is None
    assert producer.client.flush(PATIENCE_S) == 0
    assert producer.pop_failures() == (0, "")


def test_a_provider_that_gets_no_token_is_told_with_its_reason(spark, authorized):
    with pytest.raises(PySparkException, match=r"EndpointTokens' .*cannot get a token: HTTPError.*401") as raised:
        read(spark, authorized.provider("wrong-5ecret"))

    assert "5ecret" not in str(raised.value)


@pytest.mark.nightly
def test_a_query_outlives_its_tokens(spark, authorized, tmp_path):
    options = {**authorized.provider(), "topic": "tokens-expiring", "scan.startup.mode": "earliest-offset"}
    options["properties.sasl.oauthbearer.provider.purpose"] = "outlive"
    for topic in ("tokens-expiring", "tokens-copy"):
        authorized.broker.create_topic(topic)
    authorized.endpoint.lifetime_s = lifetime_s = 12
    stream = spark.readStream.format("millrace").options(**options).load()
    query = (
        stream.select("value")
        .writeStream.format("millrace")
        .options(**{**options, "topic": "tokens-copy"})
        .option("checkpointLocation", str(tmp_path))
        .start()
    )
    try:
        written = ["first"]
        write(spark, options, written[0])
        query.processAllAvailable()
        first_expiry = expiry(authorized.endpoint.issued[-1])

        def is_renewed() -> bool:
            written.append(f"row {len(written)}")
            write(spark, options, written[-1])
            query.processAllAvailable()
            # Issued after the first ones had expired, so that each process works with its second one at least
            return expiry(authorized.endpoint.issued[-1]) > first_expiry + lifetime_s

        wait_until(is_renewed, "tokens that were issued after the first ones had expired")
        assert is_renewed()
    finally:
        query.stop()
        authorized.endpoint.lifetime_s = 3600
    copied = read(spark, {**options, "topic": "tokens-copy"})
    # At least once: a task is tried again where a connection ends in a login
    assert set(copied) == set(written)
