from __future__ import annotations

import pytest
from confluent_kafka import Consumer, Producer

from millrace.kafka.client_log import ClientLog
from millrace.kafka.consumer import _FIXED
from millrace.kafka.property_translation import translate

SERVERS = {"bootstrap.servers": "127.0.0.1:1"}


def translated(name: str, value: str) -> dict[str, str]:
    client, problems, _ = translate({**SERVERS, name: value})
    assert problems == []
    return {key: client[key] for key in client if key not in SERVERS}


def refused(name: str, value: str = "x") -> str:
    client, problems, _ = translate({**SERVERS, name: value})
    assert name not in client
    (problem,) = problems
    return problem


@pytest.mark.parametrize(
    ("name", "value", "client"),
    [
        ("buffer.memory", "33554432", {"queue.buffering.max.kbytes": "32768"}),
        ("buffer.memory", "1", {"queue.buffering.max.kbytes": "1"}),
        ("fetch.max.wait.ms", "200", {"fetch.wait.max.ms": "200"}),
        ("receive.buffer.bytes", "65536", {"socket.receive.buffer.bytes": "65536"}),
        ("send.buffer.bytes", "65536", {"socket.send.buffer.bytes": "65536"}),
        # Java's -1 leaves the size to the system, as librdkafka's 0 does
        ("receive.buffer.bytes", "-1", {"socket.receive.buffer.bytes": "0"}),
        ("send.buffer.bytes", "-1", {"socket.send.buffer.bytes": "0"}),
        ("max.in.flight.requests.per.connection", "3", {"max.in.flight": "3"}),
        ("max.request.size", "2000000", {"message.max.bytes": "2000000"}),
        ("ssl.endpoint.identification.algorithm", "", {"ssl.endpoint.identification.algorithm": "none"}),
        ("ssl.endpoint.identification.algorithm", "https", {"ssl.endpoint.identification.algorithm": "https"}),
        ("security.protocol", " ssl ", {"security.protocol": "SSL"}),
        ("sasl.mechanism", "scram-sha-512", {"sasl.mechanism": "SCRAM-SHA-512"}),
        ("sasl.mechanisms", "PLAIN", {"sasl.mechanism": "PLAIN"}),
        (
            "sasl.kerberos.kinit.cmd",
            "/usr/bin/kinit",
            {
                "sasl.kerberos.kinit.cmd": '/usr/bin/kinit -R -t "%{sasl.kerberos.keytab}" -k '
                '%{sasl.kerberos.principal} || /usr/bin/kinit -t "%{sasl.kerberos.keytab}" -k '
                "%{sasl.kerberos.principal}"
            },
        ),
        ("sasl.kerberos.kinit.cmd", "kinit -R || kinit -k", {"sasl.kerberos.kinit.cmd": "kinit -R || kinit -k"}),
    ],
)
def test_what_java_spells_otherwise_is_translated_to_what_the_client_accepts(
    name: str, value: str, client: dict[str, str]
) -> None:
    assert translated(name, value) == client
    Producer({**SERVERS, **client})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("client.id", "me"),
        ("linger.ms", "5"),
        ("batch.size", "16384"),
        ("compression.type", "zstd"),
        ("security.protocol", "PLAINTEXT"),
        ("metadata.max.age.ms", "5000"),
        ("isolation.level", "read_uncommitted"),
        ("queued.max.messages.kbytes", "1000"),
    ],
)
def test_what_both_spell_alike_is_passed_on(name: str, value: str) -> None:
    assert translated(name, value) == {name: value}
    Consumer({**SERVERS, "group.id": "g", name: value})


@pytest.mark.parametrize("name", ["buffer.memory"])
def test_a_size_that_is_no_number_is_refused(name: str) -> None:
    assert refused(name, "32 MB") == f"option 'properties.{name}': expected a whole number; got '32 MB'"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("enable.partition.eof", "millrace relies on it"),
        ("partitioner", "use the option 'sink.partitioner'"),
        ("partitioner.class", "Java classes cannot be used; use the option 'sink.partitioner'"),
        ("security.providers", "Java classes cannot be used; the client uses OpenSSL"),
        ("ssl.engine.factory.class", "Java classes cannot be used; the client uses OpenSSL"),
        ("interceptor.classes", "Java classes cannot be used; transform the rows instead"),
        ("sasl.client.callback.handler.class", "Java classes cannot be used; give the login by"),
        ("sasl.login.class", "Java classes cannot be used; give the login by"),
        ("sasl.oauthbearer.jwt.retriever.class", "Java classes cannot be used; give the token's endpoint"),
        ("config.providers", "references to other files are not looked up; give the values themselves"),
    ],
)
def test_what_cannot_be_set_is_refused_with_what_to_do(name: str, reason: str) -> None:
    assert refused(name, "com.example.Hush").startswith(f"option 'properties.{name}' cannot be set: {reason}")


# The planner reads auto.offset.reset and never hands it to a client
OVERRIDDEN = {*_FIXED, *ClientLog().settings(), "on_delivery", "delivery.report.only.error"} - {"auto.offset.reset"}


@pytest.mark.parametrize("name", sorted(OVERRIDDEN))
def test_what_millrace_would_override_is_refused_or_warned_of(name: str) -> None:
    client, problems, warnings = translate({**SERVERS, name: "x"})
    assert name not in client
    (sentence,) = (*problems, *warnings)
    assert sentence.startswith(
        (f"option 'properties.{name}' cannot be set: ", f"option 'properties.{name}' has no effect in millrace: ")
    )


def test_two_names_of_one_client_property_may_not_differ() -> None:
    _, problems, _ = translate({**SERVERS, "fetch.max.wait.ms": "1", "fetch.wait.max.ms": "2"})
    (problem,) = problems
    assert "fetch.max.wait.ms" in problem
    assert "fetch.wait.max.ms" in problem


@pytest.mark.parametrize("given", [{}, {"bootstrap.servers": ""}, {"bootstrap.servers": "  "}])
def test_servers_are_required(given: dict[str, str]) -> None:
    assert translate(given)[1] == ["option 'properties.bootstrap.servers' is required, such as 'localhost:9092'"]


def test_every_problem_is_told() -> None:
    assert len(translate({"partitioner": "x", "buffer.memory": "x", "ssl.truststore.type": "x"})[1]) == 4


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        (
            "security.protocol",
            "SASL-SSL",
            "expected one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL (did you mean 'SASL_SSL'?); got 'SASL-SSL'",
        ),
        (
            "sasl.mechanism",
            "SCRAM-SHA512",
            "expected one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, GSSAPI (did you mean "
            "'SCRAM-SHA-512'?); got 'SCRAM-SHA512'",
        ),
        ("ssl.truststore.type", "BCFKS", "expected one of JKS, PKCS12, PEM; got 'BCFKS'"),
    ],
)
def test_a_word_that_kafka_does_not_know_is_told_with_the_closest(name: str, value: str, problem: str) -> None:
    assert refused(name, value) == f"option 'properties.{name}': {problem}"


@pytest.mark.parametrize(
    "names",
    [
        ("ssl.truststore.location", "ssl.ca.location"),
        ("ssl.truststore.certificates", "ssl.ca.pem"),
        ("ssl.keystore.location", "ssl.key.location"),
        ("ssl.keystore.location", "ssl.certificate.pem"),
    ],
)
def test_two_ways_to_give_the_same_exclude_each_other(names: tuple[str, str]) -> None:
    _, problems, _ = translate({**SERVERS, **dict.fromkeys(names, "x")})
    assert problems == [f"'properties.{names[0]}' and 'properties.{names[1]}' exclude each other: give one of them"]


@pytest.mark.parametrize("name", ["ssl.keystore.key", "ssl.keystore.certificate.chain"])
def test_a_key_and_its_certificate_belong_together(name: str) -> None:
    assert "belong together: give both" in translate({**SERVERS, name: "x"})[1][0]


def test_stores_stay_as_they_are_to_be_read_where_a_client_is_made() -> None:
    stores = {"ssl.truststore.location": "trust.jks", "ssl.truststore.password": "x", "ssl.keystore.type": "PKCS12"}
    assert translate({**SERVERS, **stores}) == ({**SERVERS, **stores}, [], [])


def test_a_property_that_flinks_source_overrides_has_no_effect() -> None:
    translation = translate({**SERVERS, "auto.offset.reset.strategy": "earliest"})
    assert (translation.client, translation.problems) == (SERVERS, [])
    assert translation.warnings == [
        "option 'properties.auto.offset.reset.strategy' has no effect in millrace: 'scan.startup.mode' and "
        "'properties.auto.offset.reset' decide where reading starts"
    ]


def test_huaweis_properties_of_kerberos_are_translated() -> None:
    translation = translate(
        {
            "bootstrap.servers": "h:1",
            "connector.auth.open": "true",
            "connector.kerberos.principal": "user",
            "connector.kerberos.keytab": "user.keytab",
            "connector.kerberos.krb5": "krb5.conf",
        }
    )
    assert not translation.problems
    assert translation.client["sasl.kerberos.principal"] == "user"
    assert translation.client["sasl.kerberos.keytab"] == "user.keytab"
    assert not any(name.startswith("connector.") for name in translation.client)
    (warning,) = translation.warnings
    assert "'properties.connector.kerberos.krb5' has no effect in millrace" in warning
    assert "KRB5_CONFIG" in warning


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("bootstrap.servers", "http://broker:9092", "expected addresses as host:port,host:port, without http://"),
        ("bootstrap.servers", "broker:9092,:9092", "expected addresses as host:port,host:port; got"),
        ("compression.type", "gzipp", "expected one of none, gzip, snappy, lz4, zstd (did you mean 'gzip'?)"),
        ("isolation.level", "committed", "expected one of read_committed, read_uncommitted"),
        ("acks", "2", "expected one of all, -1, 0, 1"),
    ],
)
def test_wrong_values_are_told_under_the_name_that_was_given(name: str, value: str, problem: str) -> None:
    problems = translate({"bootstrap.servers": "broker:9092", name: value}).problems
    assert len(problems) == 1
    assert problems[0].startswith(f"option 'properties.{name}': {problem}")


@pytest.mark.parametrize("servers", ["a:1", "a:1, b:2", "a", "[::1]:9092", "PLAINTEXT://a:1"])
def test_addresses_are_passed_on_as_they_are(servers: str) -> None:
    assert translate({"bootstrap.servers": servers}).client == {"bootstrap.servers": servers}
