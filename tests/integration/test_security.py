"""TLS and SASL on real listeners: with the right credentials data flows, with wrong ones the error says what to do."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion
from pyspark.errors import AnalysisException, PySparkException, StreamingQueryException

from millrace.configuration.build import configure_sink, configure_source
from millrace.contracts import TopicPartition
from millrace.diagnosis.run import diagnose
from millrace.errors import ClientError, MillraceError
from millrace.kafka.admin import KafkaAdmin
from millrace.kafka.client_settings import client_settings
from millrace.kafka.consumer import consumer_for
from millrace.kafka.log_dirs import topic_sizes
from millrace.kafka.producer import KafkaProducer, producer_settings
from millrace.kafka.raw_requests import BrokerAddress
from millrace.kafka.retry import RETRY_TIMEOUT_S
from millrace.options.secrets import Properties
from millrace.sampling import TopicInspector
from millrace.sink.writer.produce import RecordWriter
from millrace.source.reader.fetch import fetch
from millrace.source.reader.fetch_timeouts import FetchTimeouts
from millrace.source.reader.split_metrics import SplitMetrics
from millrace.source.splits import OffsetRange, Split
from support.admin import add_passwords
from support.certificates import Identity, authority, issue, java_keystore, java_truststore
from support.tiers import nightly_but
from support.waiting import sooner_than

TOPIC = "secured"
TRUST_PASSWORD = "trust-5ecret"
STORE_PASSWORD = "store-5ecret"
KEY_PASSWORD = "key-5ecret"
USER_PASSWORD = 'user-5ecret "; =\\'
SECRETS = [TRUST_PASSWORD, STORE_PASSWORD, KEY_PASSWORD, "user-5ecret"]
QUOTED = USER_PASSWORD.replace("\\", "\\\\").replace('"', '\\"')

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
OAUTH = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
VALIDATOR = (
    "org.apache.kafka.common.security.oauthbearer.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler"
)


@dataclass(frozen=True)
class Secured:
    """A broker with a listener of each kind, and the files of its clients."""

    broker: Any
    folder: Path
    client: Identity

    def options(self, listener: str, protocol: str, **properties: str) -> dict[str, str]:
        """Options to connect to a listener; ``_`` in a property's name stands for a dot."""
        given = {
            "topic": TOPIC,
            "properties.bootstrap.servers": self.broker.address(listener),
            "properties.security.protocol": protocol,
        }
        return {**given, **{f"properties.{name.replace('_', '.')}": value for name, value in properties.items()}}

    def tls(self, listener: str = "TLS", protocol: str = "SSL", **properties: str) -> dict[str, str]:
        """Options with a truststore."""
        trust = {"ssl_truststore_location": self.file("trust.jks"), "ssl_truststore_password": TRUST_PASSWORD}
        return self.options(listener, protocol, **{**trust, **properties})

    def file(self, name: str) -> str:
        return str(self.folder / name)


def jaas(module: str, password: str = QUOTED, user: str = "alice") -> str:
    return f'{module} required username="{user}" password="{password}";'


def write_files(
    folder: Path, root: Identity, between: Identity, server: Identity, client: Identity, stranger: Identity
) -> None:
    for name, text in {
        "ca.pem": root.certificate_pem,
        "between.pem": between.certificate_pem,
        "own.pem": server.certificate_pem,
        "other.pem": authority("other").certificate_pem,
        "client.pem": client.key_pem(KEY_PASSWORD) + client.chain_pem,
        "stranger.pem": stranger.key_pem() + stranger.chain_pem,
    }.items():
        (folder / name).write_text(text)
    (folder / "client.p12").write_bytes(client.pkcs12(STORE_PASSWORD))
    java_truststore(folder / "trust.jks", folder / "ca.pem", TRUST_PASSWORD, "JKS")
    java_truststore(folder / "trust-pkcs12.jks", folder / "ca.pem", TRUST_PASSWORD, "PKCS12")
    java_truststore(folder / "between.jks", folder / "between.pem", TRUST_PASSWORD, "JKS")
    java_keystore(folder / "client.jks", folder / "client.p12", STORE_PASSWORD, STORE_PASSWORD, KEY_PASSWORD, "JKS")


def listeners(folder: Path, server: Identity, other_host: Identity) -> list[Any]:
    from millrace_broker import Listener

    def keystore(identity: Identity) -> dict[str, str]:
        path = folder / f"{identity.certificate.serial_number}.pem"
        path.write_text(identity.key_pem() + identity.chain_pem)
        return {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(path)}

    trust = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(folder / "ca.pem")}
    sasl = {
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        "plain.sasl.jaas.config": f'{PLAIN} required user_alice="{QUOTED}";',
        "scram-sha-256.sasl.jaas.config": f"{SCRAM} required;",
        "scram-sha-512.sasl.jaas.config": f"{SCRAM} required;",
    }
    oauth = {
        "sasl.enabled.mechanisms": "OAUTHBEARER",
        "oauthbearer.sasl.jaas.config": f'{OAUTH} required unsecuredLoginStringClaim_sub="broker";',
        "oauthbearer.sasl.server.callback.handler.class": VALIDATOR,
    }
    return [
        Listener("OPEN"),
        Listener("TLS", "SSL", config=keystore(server)),
        Listener("OTHERHOST", "SSL", host="localhost", config=keystore(other_host)),
        Listener("MUTUAL", "SSL", config={**keystore(server), **trust, "ssl.client.auth": "required"}),
        Listener("SASL", "SASL_PLAINTEXT", config=sasl),
        Listener("BOTH", "SASL_SSL", config={**sasl, **keystore(server)}),
        Listener(
            "MUTUAL_SASL", "SASL_SSL", config={**sasl, **keystore(server), **trust, "ssl.client.auth": "required"}
        ),
        Listener("OAUTH", "SASL_PLAINTEXT", config=oauth),
    ]


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    from millrace_broker import KafkaBroker

    folder = tmp_path_factory.mktemp("security")
    root = authority("root")
    # What the servers and clients show is signed in between, so that whole chains must be sent
    between = authority("between", root)
    server = issue("server", between, ["localhost", "127.0.0.1"])
    client = issue("client", between)
    write_files(folder, root, between, server, client, issue("stranger", authority("stranger's")))
    of_broker = listeners(folder, server, issue("elsewhere", root, ["kafka.example", "10.0.0.1"]))
    with KafkaBroker(listeners=of_broker, data_dir=tmp_path_factory.mktemp("kafka")) as broker:
        broker.create_topic(TOPIC)
        for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
            upsertion = UserScramCredentialUpsertion(
                "alice", ScramCredentialInfo(mechanism, 4096), USER_PASSWORD.encode()
            )
            add_passwords(broker.address("OPEN"), [upsertion])
        yield Secured(broker, folder, client)


@pytest.mark.parametrize("name", nightly_but(["between.jks", "between.pem", "trust.jks"], "between.jks"))
def test_a_store_with_the_intermediate_authority_or_the_root_is_enough(secured, name):
    options = secured.tls(ssl_truststore_location=secured.file(name))

    config = configure_source({**options, "format": "raw"})
    assert KafkaAdmin(config.client).topics([TOPIC])[TOPIC].partitions == 1
    given = {key: value for key, value in options.items() if key != "topic"}
    # The certificate of a test expires soon, of which doctor warns
    (tls,) = [each for each in diagnose(given, metrics_address="").findings if each.check == "tls"]
    assert "the broker's certificate expires" in tls.message


@pytest.mark.nightly
@pytest.mark.parametrize("case", ["intermediate authority in a file", "the broker's own certificate"])
def test_certificates_that_the_client_cannot_trust_are_told_with_what_to_give(secured, case):
    options, expected = WRONG[case]

    with pytest.raises(MillraceError) as error:
        KafkaAdmin(configure_source({**options(secured), "format": "raw"}).client).topics([TOPIC])

    assert all(part in str(error.value) for part in expected), str(error.value)


SASL = {"sasl_mechanism": "PLAIN", "sasl_jaas_config": jaas(PLAIN)}
UNSECURED = f'{OAUTH} required unsecuredLoginStringClaim_sub="alice";'

RIGHT: dict[str, Callable[[Secured], dict[str, str]]] = {
    "truststore in JKS": lambda s: s.tls(),
    "truststore in JKS without its password": lambda s: s.options(
        "TLS", "SSL", ssl_truststore_location=s.file("trust.jks")
    ),
    "truststore in PKCS12 named jks": lambda s: s.tls(ssl_truststore_location=s.file("trust-pkcs12.jks")),
    "truststore in PEM": lambda s: s.options(
        "TLS", "SSL", ssl_truststore_type="PEM", ssl_truststore_location=s.file("ca.pem")
    ),
    "truststore in an option": lambda s: s.options(
        "TLS", "SSL", ssl_truststore_certificates=Path(s.file("ca.pem")).read_text()
    ),
    "truststore in JKS with the intermediate authority alone": lambda s: s.tls(
        ssl_truststore_location=s.file("between.jks")
    ),
    "authorities in a file": lambda s: s.options("TLS", "SSL", ssl_ca_location=s.file("ca.pem")),
    "another host without the check": lambda s: s.tls("OTHERHOST", ssl_endpoint_identification_algorithm=""),
    "keystore in JKS with a key password": lambda s: s.tls(
        "MUTUAL",
        ssl_keystore_location=s.file("client.jks"),
        ssl_keystore_password=STORE_PASSWORD,
        ssl_key_password=KEY_PASSWORD,
    ),
    "keystore in PKCS12": lambda s: s.tls(
        "MUTUAL", ssl_keystore_location=s.file("client.p12"), ssl_keystore_password=STORE_PASSWORD
    ),
    "keystore in PEM with an encrypted key": lambda s: s.tls(
        "MUTUAL", ssl_keystore_location=s.file("client.pem"), ssl_key_password=KEY_PASSWORD
    ),
    "keystore in options, in one line": lambda s: s.tls(
        "MUTUAL",
        ssl_keystore_type="PEM",
        ssl_keystore_key=s.client.key_pem().replace("\n", "\\n"),
        ssl_keystore_certificate_chain=s.client.chain_pem.replace("\n", " "),
    ),
    "PLAIN": lambda s: s.options("SASL", "SASL_PLAINTEXT", **SASL),
    "SCRAM-SHA-256": lambda s: s.options(
        "SASL",
        "SASL_PLAINTEXT",
        sasl_mechanism="SCRAM-SHA-256",
        sasl_jaas_config=jaas("kafkashaded." + SCRAM),
    ),
    "SCRAM-SHA-512 over TLS": lambda s: s.tls(
        "BOTH", "SASL_SSL", sasl_mechanism="SCRAM-SHA-512", sasl_jaas_config=jaas(SCRAM)
    ),
    "OAUTHBEARER": lambda s: s.options(
        "OAUTH", "SASL_PLAINTEXT", sasl_mechanism="OAUTHBEARER", sasl_jaas_config=UNSECURED
    ),
}


QUICK_RIGHT = "keystore in JKS with a key password", "PLAIN", "SCRAM-SHA-512 over TLS", "OAUTHBEARER"


@pytest.mark.parametrize("case", nightly_but(RIGHT, *QUICK_RIGHT))
def test_with_the_right_credentials_rows_are_written_and_read(spark, secured, case):
    options = RIGHT[case](secured)

    spark.sql(f"SELECT '{case}' AS value").write.format("millrace").options(**options).mode("append").save()
    rows = spark.read.format("millrace").options(**options).schema("value BINARY").load().collect()

    assert [row.value for row in rows].count(case.encode()) == 1


SIZED = tuple(case for case in RIGHT if case != "OAUTHBEARER")


@pytest.mark.parametrize("case", nightly_but(SIZED, "keystore in JKS with a key password", "SCRAM-SHA-512 over TLS"))
def test_bytes_of_topics_are_looked_up_after_each_login(secured, case):
    expected = TopicInspector(Properties({"bootstrap.servers": secured.broker.address("OPEN")})).sizes()
    client = configure_source({**RIGHT[case](secured), "format": "raw"}).client

    assert TopicInspector(client).sizes()[TOPIC] == expected[TOPIC]


SIZES_REFUSED = {
    "password": (
        lambda s: s.options("SASL", "SASL_PLAINTEXT", **{**SASL, "sasl_jaas_config": jaas(PLAIN, "user-5ecret")}),
        "the login failed: ",
    ),
    "SCRAM password": (
        lambda s: s.tls(
            "BOTH", "SASL_SSL", sasl_mechanism="SCRAM-SHA-512", sasl_jaas_config=jaas(SCRAM, "user-5ecret")
        ),
        "the login failed: ",
    ),
    "authority": (lambda s: s.options("TLS", "SSL", ssl_ca_location=s.file("other.pem")), "certificate verify failed"),
    "host": (lambda s: s.tls("OTHERHOST"), "certificate is not valid for"),
    "a token of librdkafka's own": (RIGHT["OAUTHBEARER"], "a login by OAUTHBEARER is one that only the client library"),
}


@pytest.mark.parametrize("case", nightly_but(SIZES_REFUSED, "SCRAM password", "host"))
def test_a_login_that_fails_is_why_bytes_of_topics_are_not_known(secured, case):
    options, reason = SIZES_REFUSED[case]
    config = configure_source({**options(secured), "format": "raw"})
    host, port = config.client["bootstrap.servers"].rsplit(":", 1)

    with pytest.raises(ClientError) as error:
        topic_sizes([BrokerAddress(1, host, int(port))], client_settings(config.client))

    assert reason in str(error.value)
    assert not any(secret in str(error.value) for secret in SECRETS)


WRONG: dict[str, tuple[Callable[[Secured], dict[str, str]], list[str]]] = {
    "password": (
        lambda s: s.options(
            "SASL", "SASL_PLAINTEXT", sasl_mechanism="PLAIN", sasl_jaas_config=jaas(PLAIN, "user-5ecret")
        ),
        [
            "Invalid username or password",
            "Check 'properties.sasl.username' and 'properties.sasl.password', or both in 'properties.sasl.jaas.config'",
            "for mechanism PLAIN",
        ],
    ),
    "SCRAM password over TLS": (
        lambda s: s.tls(
            "BOTH", "SASL_SSL", sasl_mechanism="SCRAM-SHA-512", sasl_jaas_config=jaas(SCRAM, "user-5ecret")
        ),
        ["invalid credentials with SASL mechanism SCRAM-SHA-512", "Check 'properties.sasl.username'"],
    ),
    "user": (
        lambda s: s.options(
            "SASL", "SASL_PLAINTEXT", sasl_mechanism="SCRAM-SHA-256", sasl_jaas_config=jaas(SCRAM, user="nobody")
        ),
        ["invalid credentials", "the broker knows this user for mechanism SCRAM-SHA-256"],
    ),
    "authority": (
        lambda s: s.options("TLS", "SSL", ssl_ca_location=s.file("other.pem")),
        [
            "the certificate of the broker at 127.0.0.1:",
            "is not trusted: unable to get local issuer certificate. Give the certificate of its authority by "
            "'properties.ssl.truststore.location'",
        ],
    ),
    "intermediate authority in a file": (
        lambda s: s.options("TLS", "SSL", ssl_ca_location=s.file("between.pem")),
        [
            "is not trusted: unable to get issuer certificate. The trusted certificate is an intermediate authority's: "
            "give it by 'properties.ssl.truststore.location'",
        ],
    ),
    "the broker's own certificate": (
        lambda s: s.options("TLS", "SSL", ssl_truststore_location=s.file("own.pem")),
        [
            "option 'properties.ssl.truststore.location': it holds servers' own certificates alone",
            "put the certificate of the authority that has signed them into it",
        ],
    ),
    "no authority": (lambda s: s.options("TLS", "SSL"), ["is not trusted", "'properties.ssl.truststore.location'"]),
    "host": (
        lambda s: s.tls("OTHERHOST"),
        [
            "the certificate of the broker at localhost:",
            "is for another name: kafka.example, 10.0.0.1. Connect by a name that the certificate is for",
            "'properties.ssl.endpoint.identification.algorithm' with an empty value",
        ],
    ),
    "no client certificate": (
        lambda s: s.tls("MUTUAL"),
        ["The broker wants a client certificate", "'properties.ssl.keystore.location'"],
    ),
    "client certificate of a stranger": (
        lambda s: s.tls("MUTUAL", ssl_keystore_location=s.file("stranger.pem")),
        ["a client certificate of an authority that it trusts"],
    ),
    "no TLS on a port with TLS": (
        lambda s: s.options("TLS", "PLAINTEXT"),
        ["closes connections at their first bytes", "set 'properties.security.protocol' to SSL, with PLAINTEXT"],
    ),
    "no login on a port with SASL": (
        lambda s: s.options("SASL", "PLAINTEXT"),
        ["as a listener with SASL does", "set 'properties.security.protocol' to SASL_PLAINTEXT"],
    ),
    "TLS on a port without": (
        lambda s: s.tls("OPEN"),
        ["The listener does not speak TLS: set 'properties.security.protocol' to PLAINTEXT or SASL_PLAINTEXT"],
    ),
    "SASL on a port without": (
        lambda s: s.options("OPEN", "SASL_PLAINTEXT", **SASL),
        ["The listener expects no SASL: set 'properties.security.protocol' to PLAINTEXT or SSL"],
    ),
    "mechanism": (
        lambda s: s.options("OAUTH", "SASL_PLAINTEXT", **SASL),
        ["supported mechanisms: OAUTHBEARER", "Set 'properties.sasl.mechanism' to one that this listener supports"],
    ),
    "token": (
        lambda s: s.options(
            "OAUTH",
            "SASL_PLAINTEXT",
            sasl_mechanism="OAUTHBEARER",
            # The broker looks for the user in claim sub
            sasl_jaas_config=UNSECURED.replace("_sub", "_azp").replace(";", ' unsecuredLoginPrincipalClaimName="azp";'),
        ),
        ["The broker does not accept the token"],
    ),
    "token endpoint": (
        lambda s: s.options(
            "OAUTH",
            "SASL_PLAINTEXT",
            sasl_mechanism="OAUTHBEARER",
            sasl_jaas_config=f'{OAUTH} required clientId="a" clientSecret="{KEY_PASSWORD}";',
            sasl_oauthbearer_token_endpoint_url="http://127.0.0.1:1/token",
        ),
        ["Could not connect to server", "Check 'properties.sasl.oauthbearer.token.endpoint.url'"],
    ),
    "Kerberos without it in the client": (
        lambda s: s.options("SASL", "SASL_PLAINTEXT"),
        ["the installed Kafka client has no Kerberos", "--no-binary confluent-kafka"],
    ),
    "truststore password": (
        lambda s: s.tls(ssl_truststore_password=KEY_PASSWORD),
        ["option 'properties.ssl.truststore.password': the password is wrong"],
    ),
    "keystore password": (
        lambda s: s.tls("MUTUAL", ssl_keystore_location=s.file("client.p12"), ssl_keystore_password=KEY_PASSWORD),
        ["option 'properties.ssl.keystore.password': the password is wrong"],
    ),
    "key password": (
        lambda s: s.tls("MUTUAL", ssl_keystore_location=s.file("client.pem"), ssl_key_password=STORE_PASSWORD),
        ["'properties.ssl.key.password' is wrong"],
    ),
    "missing file": (
        lambda s: s.options("TLS", "SSL", ssl_truststore_location="nowhere.jks"),
        ["option 'properties.ssl.truststore.location': there is no file 'nowhere.jks' on host", "'spark.files'"],
    ),
}


def check(action: Callable[[], object], expected: list[str]) -> None:
    """Run what fails, and check that it does so soon and with these words."""
    refused = pytest.raises((AnalysisException, StreamingQueryException, PySparkException))
    with sooner_than(RETRY_TIMEOUT_S, "the retries of a minute"), refused as raised:
        action()
    text = str(raised.value)
    for part in expected:
        assert part in text, text
    assert not [secret for secret in SECRETS if secret in text]
    assert "Traceback" not in text
    assert not re.search(r"\(after \d+ms", text)


@pytest.mark.parametrize(
    "case", nightly_but(WRONG, "password", "authority", "host", "no client certificate", "missing file")
)
def test_a_wrong_thing_in_a_batch_read_is_told_soon_with_what_to_do(spark, secured, case):
    options, expected = WRONG[case]

    check(spark.read.format("millrace").options(**options(secured)).load().count, expected)


SOME = ["password", "authority", "missing file"]


@pytest.mark.parametrize("case", nightly_but(SOME, "password"))
def test_a_wrong_thing_in_a_write_is_told_soon_with_what_to_do(spark, secured, case):
    options, expected = WRONG[case]
    rows = spark.sql("SELECT 'v' AS value")

    check(lambda: rows.write.format("millrace").options(**options(secured)).mode("append").save(), expected)


@pytest.mark.nightly
@pytest.mark.parametrize("case", SOME)
def test_a_wrong_thing_in_a_stream_is_told_soon_with_what_to_do(spark, secured, tmp_path, case):
    options, expected = WRONG[case]
    stream = spark.readStream.format("millrace").options(**options(secured)).load()

    def run() -> None:
        query = stream.writeStream.format("noop").option("checkpointLocation", str(tmp_path)).start()
        query.processAllAvailable()

    check(run, expected)


def test_a_stream_goes_from_one_secured_topic_to_another(spark, secured, tmp_path):
    options = RIGHT["SCRAM-SHA-512 over TLS"](secured)
    secured.broker.create_topic("secured-copy")
    stream = spark.readStream.format("millrace").options(**options, **{"scan.startup.mode": "earliest-offset"}).load()
    query = (
        stream.select("value")
        .writeStream.format("millrace")
        .options(**{**options, "topic": "secured-copy"})
        .option("checkpointLocation", str(tmp_path))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()

    def count(topic: str) -> int:
        return spark.read.format("millrace").options(**{**options, "topic": topic}).load().count()

    assert count("secured-copy") == count(TOPIC) > 0


def test_a_file_that_spark_distributes_is_found_by_its_name(spark, secured):
    distributed = secured.folder / "distributed-trust.jks"
    distributed.write_bytes(Path(secured.file("trust.jks")).read_bytes())
    spark.sparkContext.addFile(str(distributed))
    options = secured.tls(ssl_truststore_location=distributed.name)

    spark.sql("SELECT 'by name' AS value").write.format("millrace").options(**options).mode("append").save()
    values = spark.read.format("millrace").options(**options).schema("value BINARY").load().collect()

    assert b"by name" in [row.value for row in values]


@pytest.mark.nightly
def test_a_worker_that_is_refused_gives_up_soon(secured):
    timeouts = FetchTimeouts(refused_s=1.0)
    config = configure_source(WRONG["password"][0](secured))
    split = Split((OffsetRange(TopicPartition(TOPIC, 0), 0, 1),))

    with pytest.raises(ClientError) as error:
        list(fetch(consumer_for(config.client), split, SplitMetrics(), timeouts=timeouts))

    assert "Check 'properties.sasl.username'" in str(error.value)


@pytest.mark.nightly
def test_a_writer_that_is_refused_gives_up_soon(secured):
    config = configure_sink(WRONG["password"][0](secured))
    producer = KafkaProducer(producer_settings(config.client, idempotent=True), security_error_grace_s=1.0)
    producer.client.produce(TOPIC, b"v")

    with pytest.raises(ClientError) as error:
        RecordWriter(producer).flush()

    assert "Check 'properties.sasl.username'" in str(error.value)


@pytest.mark.nightly
def test_a_topic_that_a_refused_writer_looks_up_is_told_with_the_reason(secured):
    config = configure_sink(WRONG["password"][0](secured))
    producer = KafkaProducer(producer_settings(config.client, idempotent=True))

    with pytest.raises(ClientError) as error:
        producer.partition_count(TOPIC)

    assert "Check 'properties.sasl.username'" in str(error.value)


@pytest.mark.nightly
def test_secured_brokers_that_restart_are_waited_for(secured):
    cluster = KafkaAdmin(configure_source(RIGHT["SCRAM-SHA-512 over TLS"](secured)).client)
    assert cluster.topics([TOPIC])[TOPIC].partitions == 1
    secured.broker.kill()
    restart = threading.Thread(target=secured.broker.start)
    restart.start()
    try:
        assert cluster.topics([TOPIC])[TOPIC].partitions == 1
    finally:
        restart.join()


def run_with_secrets(secured: Secured, folder: Path, config: dict[str, str]) -> None:
    """Run a program with secrets in its options; what it shows and leaves is in the folder then."""
    login = {"sasl_mechanism": "SCRAM-SHA-512", "sasl_jaas_config": jaas(SCRAM)}
    stores = secured.tls(
        "MUTUAL_SASL",
        "SASL_SSL",
        ssl_keystore_location=secured.file("client.jks"),
        ssl_keystore_password=STORE_PASSWORD,
        ssl_key_password=KEY_PASSWORD,
        **login,
    )
    key = secured.client.key_pem()
    inline = secured.tls(
        "MUTUAL_SASL",
        "SASL_SSL",
        ssl_keystore_key=key,
        ssl_keystore_certificate_chain=secured.client.chain_pem,
        **login,
    )
    wrong = [
        {**stores, "properties.sasl.jaas.config": jaas(SCRAM, "user-5ecret")},
        {**stores, "properties.sasl.jaas.config": f"{SCRAM} required password=user-5ecret"},
        {**stores, "properties.ssl.truststore.password": KEY_PASSWORD},
        {**stores, "properties.sasl.pasword": "user-5ecret"},
        {**inline, "properties.ssl.keystore.key": key.replace(key.splitlines()[2], "")},
    ]
    given = {"folder": str(folder), "config": config, "right": [stores, inline], "wrong": wrong}
    with (folder / "stdout").open("w") as out, (folder / "stderr").open("w") as errors:
        program = Path(__file__).parents[1] / "support/leaks.py"
        subprocess.run([sys.executable, program, json.dumps(given)], stdout=out, stderr=errors, check=True)
    left = [str(path.relative_to(folder)) for path in folder.rglob("*")]
    assert {"checkpoint", "events"} <= set(left)


def leaks(folder: Path, secured: Secured) -> list[str]:
    """Find a secret in the logs: file and line."""
    secrets = [*SECRETS, secured.client.key_pem().splitlines()[1]]
    return [
        f"{path.relative_to(folder)}: {line}"
        for path in folder.rglob("*")
        if path.is_file()
        for line in path.read_text("latin-1").splitlines()
        if any(secret in line for secret in secrets)
    ]


def test_no_secret_is_shown_or_left_behind(secured, tmp_path):
    run_with_secrets(secured, tmp_path, {})

    assert leaks(tmp_path, secured) == []
    # Spark does show options in plans, and would show this one without the setting of local_session
    shown = "".join(path.read_text() for path in tmp_path.glob("events/*/events*"))
    assert "properties.ssl.keystore.key=*********(redacted)" in shown
    assert "properties.sasl.jaas.config=*********(redacted)" in shown
