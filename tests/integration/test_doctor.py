"""``millrace doctor`` and `millrace.probe` against a cluster with something wrong of each kind."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

import millrace
from millrace.diagnosis import clock
from millrace.kafka.retry import RETRY_TIMEOUT_S
from millrace_broker import KafkaBroker, Listener
from millrace_broker.listeners import free_ports
from millrace_cli.commands.doctor import doctor
from support.admin import add_permissions
from support.certificates import Identity, authority, issue
from support.kafka import produce
from support.quotas import limit_requests
from support.tiers import nightly_but
from support.waiting import PATIENCE_S, sooner_than, wait_until

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
PASSWORD = "hunter2-of-alice"


def keystore(folder: Path, identity: Identity) -> dict[str, str]:
    path = folder / f"{identity.certificate.serial_number}.pem"
    path.write_text(identity.key_pem() + identity.chain_pem)
    return {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(path)}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A broker whose listeners have something wrong each, and its folder with ``ca.pem``."""
    folder = tmp_path_factory.mktemp("doctor")
    root = authority("root")
    (folder / "ca.pem").write_text(root.certificate_pem)
    ports = free_ports(6)
    names = ("OPEN", "TLS", "EXPIRED", "OTHERHOST", "LOGIN", "ELSEWHERE")
    login = {
        "sasl.enabled.mechanisms": "PLAIN",
        "plain.sasl.jaas.config": f'{PLAIN} required user_alice="{PASSWORD}";',
    }
    kinds = {
        "TLS": ("SSL", keystore(folder, issue("broker", root, ["127.0.0.1"]))),
        "EXPIRED": ("SSL", keystore(folder, issue("broker", root, ["127.0.0.1"], is_expired=True))),
        "OTHERHOST": ("SSL", keystore(folder, issue("broker", root, ["kafka.example"]))),
        "LOGIN": ("SASL_PLAINTEXT", login),
    }
    listeners = [
        Listener(name, kinds.get(name, ("PLAINTEXT", {}))[0], port=port, config=kinds.get(name, ("", {}))[1])
        for name, port in zip(names, ports, strict=True)
    ]
    # Bound and not listening: nobody answers there, and no other test's broker can take it
    absent = socket.socket()
    absent.bind(("127.0.0.1", 0))
    told = dict(zip(names, ports, strict=True)) | {"ELSEWHERE": absent.getsockname()[1]}
    properties = {
        "advertised.listeners": ",".join(f"{name}://127.0.0.1:{port}" for name, port in told.items()),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
    with absent, KafkaBroker(listeners=listeners, properties=properties) as broker:
        broker.create_topic("orders")
        broker.create_topic("stamped", config={"message.timestamp.type": "LogAppendTime"})
        produce(broker.address("OPEN"), "stamped", [{"value": b"1"}])
        every = ("orders", ResourcePatternType.LITERAL, "User:alice", "*")
        allowed = AclBinding(ResourceType.TOPIC, *every, AclOperation.READ, AclPermissionType.ALLOW)
        add_permissions(broker.address("OPEN"), [allowed])
        made = broker, folder
        # A broker's first answers may take seconds, after which the doctor takes a listener for a silent one
        for listener, given in {
            "OPEN": {},
            "TLS": {"properties_security_protocol": "SSL"},
            "LOGIN": as_alice(),
        }.items():
            wait_until(lambda named=listener, given=given: is_sound(made, named, given), "prompt answers")
        yield made


def problems(cluster, listener: str, **given: str) -> list[millrace.probe]:
    broker, folder = cluster
    options = {"properties.bootstrap.servers": broker.address(listener)}
    options |= {name.replace("_", "."): value for name, value in given.items()}
    if options.get("properties.security.protocol", "").endswith("SSL"):
        options.setdefault("properties.ssl.ca.location", str(folder / "ca.pem"))
    with sooner_than(RETRY_TIMEOUT_S, "the retries of a minute"):
        diagnosis = millrace.probe(options)
    return [each for each in diagnosis.problems if each.check not in ("java", "packages", "ports")]


def is_sound(cluster, listener: str, given: dict[str, str]) -> bool:
    return all(each.level != "error" for each in problems(cluster, listener, **given))


LISTENERS = [
    ("OPEN", "SSL", "tls", "the listener is one without TLS", "'properties.security.protocol' to PLAINTEXT"),
    ("TLS", "PLAINTEXT", "tls", "the listener is one with TLS", "'properties.security.protocol' to SSL"),
    ("EXPIRED", "SSL", "tls", "certificate has expired", "renew"),
    ("OTHERHOST", "SSL", "tls", "127.0.0.1", "by a name that the certificate is for"),
    ("LOGIN", "PLAINTEXT", "sasl", "the listener wants a login by PLAIN", "SASL_PLAINTEXT"),
    ("OPEN", "SASL_PLAINTEXT", "sasl", "the listener knows no login", "to PLAINTEXT"),
    ("ELSEWHERE", "PLAINTEXT", "advertised", "advertises", "'advertised.listeners' of broker"),
]


@pytest.mark.parametrize(
    ("listener", "protocol", "check", "message", "remedy"),
    nightly_but(LISTENERS, *(each for each in LISTENERS if each[0] in {"EXPIRED", "LOGIN", "ELSEWHERE"})),
)
def test_what_is_wrong_with_a_listener_is_found(cluster, listener, protocol, check, message, remedy):
    login = {"properties_sasl_mechanism": "PLAIN", "properties_sasl_username": "alice"}
    given = {**login, "properties_sasl_password": PASSWORD} if protocol.startswith("SASL") else {}

    found = problems(cluster, listener, properties_security_protocol=protocol, **given)

    assert [each.check for each in found] == [check]
    assert message in found[0].message
    assert remedy in found[0].remedy


def as_alice(password: str = PASSWORD) -> dict[str, str]:
    return {
        "properties_security_protocol": "SASL_PLAINTEXT",
        "properties_sasl_mechanism": "PLAIN",
        "properties_sasl_username": "alice",
        "properties_sasl_password": password,
    }


def test_a_wrong_password_is_found_and_not_shown(cluster):
    found = problems(cluster, "LOGIN", **as_alice("wrong-5ecret"))

    assert [each.check for each in found] == ["login"]
    assert "'properties.sasl.password'" in found[0].message
    assert "wrong-5ecret" not in str(found)


@pytest.mark.nightly
def test_a_mechanism_that_the_listener_has_not_is_found(cluster):
    found = problems(cluster, "LOGIN", **{**as_alice(), "properties_sasl_mechanism": "SCRAM-SHA-256"})

    assert [each.check for each in found] == ["sasl"]
    assert "it has PLAIN" in found[0].message


def test_permissions_that_are_missing_are_found(cluster):
    names = {"topic": "orders;secrets", "properties_group_id": "readers", "sink_transactional__id__prefix": "copy"}

    found = problems(cluster, "LOGIN", **as_alice(), **{n.replace("__", "-"): v for n, v in names.items()})

    assert [(each.check, each.target) for each in found] == [
        ("topic", "secrets"),
        ("group", "readers"),
        ("transactional id", "copy"),
    ]
    assert "--transactional-id copy --resource-pattern-type prefixed --operation Write" in found[-1].remedy


@pytest.mark.nightly
def test_a_client_whose_quota_is_used_up_is_found(cluster):
    broker, _ = cluster
    limit_requests(broker.address("OPEN"), "throttled", 0.01)

    found = []

    def is_found() -> bool:
        # The broker adds up what a client has used: its first requests may be within the quota
        found[:] = problems(cluster, "OPEN", topic="orders", properties_client_id="throttled")
        return any(each.check == "quota" for each in found)

    wait_until(is_found, "a used quota")
    assert found[-1].check == "quota"
    assert "kafka-configs.sh" in found[-1].remedy


def test_nothing_is_found_where_nothing_is_wrong_and_the_command_says_so(cluster):
    broker, folder = cluster
    arguments = ["--bootstrap-servers", broker.address("TLS"), "--topic", "orders", "--write-topic", "orders", "--json"]
    tls = ["--property", "security.protocol=SSL", "--property", f"ssl.ca.location={folder / 'ca.pem'}"]
    rest = ["--group", "readers", "--transactional-id-prefix", "copy"]

    ended = CliRunner().invoke(doctor, [*arguments, *tls, *rest])

    told = json.loads(ended.stdout)
    assert [each for each in told["findings"] if each["level"] == "error"] == []
    assert {each["check"] for each in told["findings"]} >= {"dns", "tcp", "tls", "api", "login", "advertised", "group"}
    assert (ended.exit_code, told["sound"]) == (0, True)


@pytest.mark.parametrize("listener", nightly_but(["OPEN", "TLS"], "OPEN"))
def test_a_clock_that_is_not_the_brokers_is_found(cluster, monkeypatch, listener):
    monkeypatch.setattr(clock, "now", lambda: time.time() + 3600)

    protocol = {"properties_security_protocol": "SSL"} if listener == "TLS" else {}
    found = problems(cluster, listener, **protocol)

    assert [each.check for each in found if each.check != "tls"] == ["clock"]
    assert "the clock of the brokers' controller is" in found[-1].message
    assert "behind this host's" in found[-1].message


@pytest.mark.nightly
def test_times_that_brokers_have_written_are_compared_where_they_do_not_tell_their_own(cluster, monkeypatch):
    broker, _ = cluster
    admin = AdminClient({"bootstrap.servers": broker.address("OPEN")})
    before = time.time()
    produce(broker.address("OPEN"), "stamped", [{"value": b"2"}])

    topic, at = clock.newest_broker_time(admin, ["orders", "stamped", "not-there"], PATIENCE_S)
    assert (topic == "stamped" or topic in clock.INTERNAL_TOPICS, at >= before - 1) == (True, True)
    assert clock.compare_past(topic, at).level == "ok"

    monkeypatch.setattr(clock, "now", lambda: time.time() - 3600)
    assert "the brokers' clock is" in clock.compare_past(topic, at).message
    assert "ahead of this host's" in clock.compare_past(topic, at).message


def test_executors_check_too(spark, cluster):
    broker, _ = cluster

    seen = {}
    for listener in ("OPEN", "ELSEWHERE"):
        diagnosis = millrace.probe({"properties.bootstrap.servers": broker.address(listener)}, spark=spark)
        seen[listener] = [each for each in diagnosis.findings if each.seen_from != "driver"]

    assert {each.check for each in seen["OPEN"]} == {
        *("dns", "tcp", "api", "advertised", "login", "python", "packages", "clock", "ports")
    }
    assert [each for each in seen["OPEN"] if each.level != "ok"] == []
    assert {each.check for each in seen["ELSEWHERE"] if each.level != "ok"} == {"advertised"}
