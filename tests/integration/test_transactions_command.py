"""`millrace transactions` on real brokers: it finds what a dead producer left open, and ends that alone."""

from __future__ import annotations

import base64
import json
import os
import pty
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from confluent_kafka import Producer
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from millrace.options.secrets import Properties
from millrace_broker import KafkaBroker, KafkaCluster, Listener
from millrace_cli.root import root
from millrace_cli.transactions.open_transactions import OpenTransaction, open_transactions
from support.certificates import authority, issue, java_truststore
from support.kafka import consume, produce
from support.waiting import wait_until


@dataclass
class Left:
    """Transactions that are left open on a broker; what a test has not ended is ended after it."""

    servers: str
    prefix: str
    ids: set[str] = field(default_factory=set)

    def open(self, transactional_id: str, topic: str, *partitions: int) -> Producer:
        """Write a record to each partition in a transaction, and go away without ending it when it is dropped."""
        self.ids.add(transactional_id)
        producer = self.producer(transactional_id)
        producer.init_transactions(60)
        producer.begin_transaction()
        for partition in partitions:
            producer.produce(topic, b"left open", partition=partition)
        assert producer.flush(30) == 0
        return producer

    def now(self, prefix: str | None = None) -> list[OpenTransaction]:
        """What is open."""
        return open_transactions(Properties({"bootstrap.servers": self.servers}), prefix or self.prefix)

    def ids_now(self, prefix: str | None = None) -> list[str]:
        """The ids of what is open."""
        return [each.transactional_id for each in self.now(prefix)]

    def end(self) -> None:
        for transactional_id in self.ids:
            self.producer(transactional_id).init_transactions(60)

    def producer(self, transactional_id: str) -> Producer:
        settings = {"bootstrap.servers": self.servers, "transactional.id": transactional_id, "log_level": 0}
        return Producer({**settings, "transaction.timeout.ms": 600_000})

    def run(self, command: str, *arguments: str) -> Result:
        """Run a command for the prefix."""
        return run(command, "--prefix", self.prefix, "--bootstrap-servers", self.servers, *arguments)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(root, ["transactions", *arguments])


def shows(stdout: str, transactional_id: str) -> bool:
    """Whether a table shows a transaction as open."""
    return re.search(rf"^{transactional_id} +Ongoing ", stdout, re.MULTILINE) is not None


@pytest.fixture
def left(broker) -> Iterator[Left]:
    here = Left(broker.bootstrap_servers, f"p{os.urandom(3).hex()}")
    yield here
    here.end()


NOW = ("--yes", "--older-than", "0s")


def test_a_record_behind_a_dead_transaction_is_read_when_that_is_aborted(left, make_topic):
    topic = make_topic()
    left.open(f"{left.prefix}-0", topic, 0)
    produce(left.servers, topic, [{"value": b"after"}])
    assert consume(left.servers, topic) == []

    listed = left.run("list")
    assert (listed.exit_code, listed.stderr) == (0, "")
    heading, line = listed.stdout.splitlines()
    assert heading.split("  ")[0] == "transactional id"
    assert re.fullmatch(rf"{left.prefix}-0 +Ongoing +\S+Z +0:00:\d\d +{topic}-0", line)
    assert consume(left.servers, topic) == []

    aborted = left.run("abort", *NOW)
    assert (aborted.exit_code, aborted.stderr) == (0, "")
    assert aborted.stdout.splitlines()[-1] == f"aborted {left.prefix}-0"
    assert [message.value() for message in consume(left.servers, topic)] == [b"after"]
    assert left.ids_now() == []


def test_transactions_of_other_prefixes_are_neither_listed_nor_touched(left, make_topic):
    topic, prefix = make_topic(), left.prefix
    others = [f"{prefix}2-0", f"{prefix}-x-0", f"{prefix}-0-0"]
    living = [left.open(each, topic, 0) for each in others]
    for task in (0, 3, 11):
        left.open(f"{prefix}-{task}", topic, 0)

    listed = json.loads(left.run("list", "--json").stdout)["transactions"]
    assert [each["transactional_id"] for each in listed] == [f"{prefix}-{task}" for task in (0, 3, 11)]

    aborted = left.run("abort", *NOW)
    assert aborted.stdout.splitlines()[-3:] == [f"aborted {prefix}-{task}" for task in (0, 3, 11)]
    assert left.ids_now() == []
    for other in others:
        assert left.ids_now(other.rpartition("-")[0]) == [other]
    # Their producers are not fenced
    for producer in living:
        producer.commit_transaction(30)
    assert len(consume(left.servers, topic)) == len(others)


def test_json_names_the_partitions_and_when_it_began(left, make_topic):
    first, second = make_topic(12), make_topic()
    producer = left.open(f"{left.prefix}-0", first, 10, 2)
    producer.produce(second, b"too")
    producer.flush()

    (listed,) = json.loads(left.run("list", "--json").stdout)["transactions"]

    assert listed["state"] == "Ongoing"
    assert [(at["topic"], at["partition"]) for at in listed["partitions"]] == [(first, 2), (first, 10), (second, 0)]
    assert 0 <= listed["open_seconds"] < 300
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", listed["began"])


def test_ids_without_an_open_transaction_are_left_alone(left, make_topic):
    topic = make_topic()
    committed = left.open(f"{left.prefix}-0", topic, 0)
    committed.commit_transaction(30)

    assert left.run("list").output == f"no open transactions with prefix {left.prefix}\n"
    assert json.loads(left.run("list", "--json").stdout) == {"transactions": []}
    aborted = left.run("abort", *NOW)
    assert (aborted.exit_code, aborted.output) == (0, f"no open transactions with prefix {left.prefix}\n")
    # Its producer is not fenced
    committed.begin_transaction()
    committed.produce(topic, b"more")
    committed.commit_transaction(30)


def test_young_transactions_are_named_and_not_aborted(left, make_topic):
    topic, prefix = make_topic(), left.prefix
    left.open(f"{prefix}-0", topic, 0)
    wait_until(lambda: left.now()[0].open_ms() > 6_000, "a transaction to grow old")
    older_than = f"{left.now()[0].open_ms()}ms"
    living = [left.open(f"{prefix}-{task}", topic, 0) for task in (1, 2)]

    result = left.run("abort", "--yes", "--older-than", older_than)

    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1] == f"aborted {prefix}-0"
    assert f"as the transactions of a live query do: {prefix}-1, {prefix}-2." in result.stderr
    assert "not aborted, since they began less than 6" in result.stderr
    assert left.ids_now() == [f"{prefix}-1", f"{prefix}-2"]
    for producer in living:
        producer.commit_transaction(30)


def test_by_default_a_minute_is_young(left, make_topic):
    living = left.open(f"{left.prefix}-0", make_topic(), 0)

    result = left.run("abort", "--yes")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("millrace: not aborted, since they began less than 60 s ago, as the tr")
    living.commit_transaction(30)


def test_without_a_terminal_it_must_be_told_yes(left, make_topic):
    living = left.open(f"{left.prefix}-0", make_topic(), 0)

    result = left.run("abort", "--older-than", "0s")

    assert result.exit_code == 1
    assert shows(result.stdout, f"{left.prefix}-0")
    assert result.stderr == (
        "millrace: nothing was aborted: there is no terminal to confirm at; give --yes to abort these\n"
    )
    living.commit_transaction(30)


@contextmanager
def asked(left: Left) -> Iterator[Callable[[str], tuple[int, str]]]:
    """Run `abort` at a terminal up to its question; gives what answers it, and returns exit code and screen."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "millrace_cli", "transactions", "abort", "--prefix", left.prefix]
    command += ["--bootstrap-servers", left.servers, "--older-than", "0s"]
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, "COLUMNS": "200"}
    )
    os.close(theirs)
    screen = bytearray()

    def read_on() -> bool:
        try:
            data = os.read(ours, 4096)
        except OSError:
            # What Linux says when the other side is gone
            return False
        screen.extend(data)
        return bool(data)

    def answer(text: str) -> tuple[int, str]:
        os.write(ours, text.encode())
        while read_on():
            pass
        return process.wait(60), screen.decode()

    try:
        while b"[y/N]" not in screen:
            assert read_on(), screen.decode()
        yield answer
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_at_a_terminal_it_asks_and_yes_aborts(left, make_topic):
    for task in (0, 1):
        left.open(f"{left.prefix}-{task}", make_topic(), 0)
    with asked(left) as answer:
        code, screen = answer("y\n")

    assert code == 0
    assert "abort these 2 transactions? [y/N]" in screen
    assert f"aborted {left.prefix}-0\r\naborted {left.prefix}-1\r\n" in screen
    assert left.ids_now() == []


@pytest.mark.parametrize("text", ["n\n", "\n", "\x04"], ids=["no", "nothing", "Ctrl-D"])
def test_at_a_terminal_anything_else_aborts_nothing(left, make_topic, text):
    living = left.open(f"{left.prefix}-0", make_topic(), 0)
    with asked(left) as answer:
        code, screen = answer(text)

    assert code == 1
    assert "abort this transaction? [y/N]" in screen
    assert screen.endswith("millrace: nothing was aborted\r\n")
    living.commit_transaction(30)


def test_a_transaction_that_began_while_the_question_stood_is_not_aborted(left, make_topic):
    topic, name = make_topic(), f"{left.prefix}-0"
    left.open(name, topic, 0)
    with asked(left) as answer:
        living = left.open(name, topic, 0)
        code, screen = answer("y\n")

    assert code == 1
    assert "nothing was aborted: the transactions have ended in the meantime" in screen
    assert (
        f"since they began after the confirmation was asked for, as the transactions of a live query do: {name}."
        in screen
    )
    living.commit_transaction(30)


def test_no_broker_is_one_clear_message():
    started = time.monotonic()
    result = run("list", "--prefix", "p", "--bootstrap-servers", "127.0.0.1:1")

    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("millrace: no Kafka broker answered within 5 s at 127.0.0.1:1")
    assert time.monotonic() - started < 15


def test_a_property_that_the_client_does_not_know_is_told(left):
    result = left.run("list", "--property", "linger.mss=5")

    assert (result.exit_code, result.stdout) == (1, "")
    assert 'No such configuration property: "linger.mss"' in result.stderr


def test_without_its_library_it_is_said_what_to_install(left, tmp_path):
    # As in an older version of the library
    (tmp_path / "kafka").mkdir()
    (tmp_path / "kafka" / "__init__.py").touch()
    command = [sys.executable, "-m", "millrace_cli", "transactions", "list", "--prefix", left.prefix]
    path = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    result = subprocess.run(
        [*command, "--bootstrap-servers", left.servers],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )

    assert (result.returncode, result.stdout) == (1, "")
    assert "needs kafka-python 3, which is not installed, or only in an older version" in result.stderr
    assert "pip install 'millrace-cli[transactions]'" in result.stderr


@pytest.fixture(scope="module")
def cluster() -> Iterator[KafkaCluster]:
    with KafkaCluster(brokers=3, java_options=["-XX:TieredStopAtLevel=1"]) as running:
        yield running


@pytest.fixture
def left_in_cluster(cluster) -> Iterator[Left]:
    here = Left(cluster.bootstrap_servers, f"p{os.urandom(3).hex()}")
    yield here
    here.end()


def coordinator(left: Left, transactional_id: str) -> int:
    from kafka.admin import KafkaAdminClient

    with KafkaAdminClient(bootstrap_servers=left.servers.split(",")) as admin:
        return admin.describe_transactions([transactional_id])[transactional_id].coordinator_id


def test_transactions_of_all_coordinators_are_found_and_aborted(cluster, left_in_cluster):
    left = left_in_cluster
    topic = f"all-{left.prefix}"
    cluster.create_topic(topic)
    names = [f"{left.prefix}-{task}" for task in range(12)]
    for name in names:
        left.open(name, topic, 0)
    assert len({coordinator(left, name) for name in names}) > 1

    assert left.ids_now() == names
    assert left.run("abort", *NOW).stdout.splitlines()[-12:] == [f"aborted {name}" for name in names]
    assert left.ids_now() == []


def test_a_commit_that_has_begun_is_brought_to_its_end(cluster, left_in_cluster):
    left = left_in_cluster
    topic, name = f"begun-{left.prefix}", f"{left.prefix}-0"
    cluster.create_topic(topic, partitions=3, replication=1)
    producer = left.open(name, topic, 0, 1, 2)
    metadata = AdminClient({"bootstrap.servers": left.servers}).list_topics(topic, 30)
    leaders = {at.leader for at in metadata.topics[topic].partitions.values()}
    # Without this broker the commit cannot be told to all partitions
    gone = cluster.brokers[min(leaders - {coordinator(left, name)}) - 1]
    gone.kill()
    with ThreadPoolExecutor(1) as background:
        try:
            producer.commit_transaction(30)
            wait_until(lambda: [each.state for each in left.now()] == ["PrepareCommit"], "a commit that cannot end")
            aborting = background.submit(left.run, "abort", *NOW)
        finally:
            gone.start()
        result = aborting.result(120)

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[-1] == f"committed {name}, whose commit had begun"
    assert len(consume(left.servers, topic)) == 3


PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
OAUTH = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
VALIDATOR = (
    "org.apache.kafka.common.security.oauthbearer.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler"
)
PASSWORD = "user-5ecret"
STORE_PASSWORD = "store-5ecret"
QUICK = "-XX:TieredStopAtLevel=1"


@dataclass(frozen=True)
class Secured:
    """A broker that lets alice do nothing but look at transactions, and root do everything."""

    broker: KafkaBroker
    folder: Path

    def config(self, listener: str, **lines: str) -> list[str]:
        """Arguments to connect to a listener by a file of properties; ``_`` in a name stands for a dot."""
        file = self.folder / "client.properties"
        properties = {"bootstrap.servers": self.broker.address(listener)}
        properties.update({name.replace("_", "."): value for name, value in lines.items()})
        file.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
        return ["--config", str(file)]

    def login(self, user: str = "root", password: str = PASSWORD, **more: str) -> list[str]:
        """Arguments to connect with TLS of both sides and a password."""
        return self.config(
            "BOTH",
            security_protocol="SASL_SSL",
            ssl_truststore_location=str(self.folder / "trust.jks"),
            ssl_truststore_password=STORE_PASSWORD,
            ssl_keystore_location=str(self.folder / "client.p12"),
            ssl_keystore_password=STORE_PASSWORD,
            sasl_mechanism="PLAIN",
            sasl_jaas_config=f'{PLAIN} required username="{user}" password="{password}";',
            **more,
        )


@pytest.fixture(scope="module")
def secured(tmp_path_factory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("transactions")
    signer = authority("root")
    server = issue("server", signer, ["127.0.0.1"])
    (folder / "ca.pem").write_text(signer.certificate_pem)
    (folder / "server.pem").write_text(server.key_pem() + server.chain_pem)
    (folder / "client.p12").write_bytes(issue("client", signer).pkcs12(STORE_PASSWORD))
    java_truststore(folder / "trust.jks", folder / "ca.pem", STORE_PASSWORD, "JKS")
    tls = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(folder / "server.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(folder / "ca.pem"),
        "ssl.client.auth": "required",
    }
    plain = {
        "sasl.enabled.mechanisms": "PLAIN",
        "plain.sasl.jaas.config": f'{PLAIN} required user_root="{PASSWORD}" user_alice="{PASSWORD}";',
    }
    oauth = {
        "sasl.enabled.mechanisms": "OAUTHBEARER",
        "oauthbearer.sasl.jaas.config": f'{OAUTH} required unsecuredLoginStringClaim_sub="broker";',
        "oauthbearer.sasl.server.callback.handler.class": VALIDATOR,
    }
    listeners = [
        Listener("OPEN"),
        Listener("BOTH", "SASL_SSL", config={**tls, **plain}),
        Listener("OAUTH", "SASL_PLAINTEXT", config=oauth),
    ]
    properties = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS;User:root",
    }
    with KafkaBroker(listeners=listeners, properties=properties, java_options=[QUICK]) as broker:
        looks = [
            AclBinding(kind, "*", ResourcePatternType.LITERAL, "User:alice", "*", operation, AclPermissionType.ALLOW)
            for kind, operation in (
                (ResourceType.TRANSACTIONAL_ID, AclOperation.DESCRIBE),
                (ResourceType.TOPIC, AclOperation.DESCRIBE),
            )
        ]
        admin = AdminClient({"bootstrap.servers": broker.address("OPEN")})
        for future in admin.create_acls(looks).values():
            future.result(30)
        broker.create_topic("secured")
        yield Secured(broker, folder)


@pytest.fixture
def left_secured(secured) -> Iterator[Left]:
    here = Left(secured.broker.address("OPEN"), f"p{os.urandom(3).hex()}")
    here.open(f"{here.prefix}-0", "secured", 0)
    yield here
    here.end()


@pytest.fixture
def temporary(tmp_path, monkeypatch) -> Path:
    """Where temporary files come and go."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_with_tls_of_both_sides_and_a_password(secured, left_secured, temporary):
    prefix, login = left_secured.prefix, secured.login()

    assert shows(run("list", "--prefix", prefix, *login).stdout, f"{prefix}-0")
    aborted = run("abort", "--prefix", prefix, *login, *NOW)

    assert (aborted.exit_code, aborted.stderr) == (0, "")
    assert aborted.stdout.splitlines()[-1] == f"aborted {prefix}-0"
    assert list(temporary.iterdir()) == []


def test_a_private_key_is_in_no_file_that_others_can_read(secured, left_secured, temporary, monkeypatch):
    import ssl

    seen = []

    class Watched(ssl.SSLContext):
        def load_cert_chain(self, certfile, keyfile=None, password=None):
            seen.append((Path(keyfile).read_text().splitlines()[0], oct(Path(keyfile).stat().st_mode & 0o777)))
            super().load_cert_chain(certfile, keyfile, password)

    monkeypatch.setattr(ssl, "SSLContext", Watched)
    old = os.umask(0)
    try:
        assert run("list", "--prefix", left_secured.prefix, *secured.login()).exit_code == 0
    finally:
        os.umask(old)
    assert seen == [("-----BEGIN PRIVATE KEY-----", "0o600")]
    assert list(temporary.iterdir()) == []


def test_pem_files_and_names_of_librdkafka(secured, left_secured):
    arguments = secured.login()
    file = Path(arguments[1])
    lines = [line for line in file.read_text().splitlines() if "store" not in line]
    lines += [
        f"ssl.ca.location={secured.folder / 'ca.pem'}",
        f"ssl.certificate.location={secured.folder / 'server.pem'}",
    ]
    file.write_text("\n".join([*lines, f"ssl.key.location={secured.folder / 'server.pem'}"]))

    assert shows(run("list", "--prefix", left_secured.prefix, *arguments).stdout, f"{left_secured.prefix}-0")


@pytest.mark.parametrize("command", ["list", "abort"])
def test_a_wrong_password_is_one_clear_message_without_it(secured, left_secured, command):
    result = run(command, "--prefix", left_secured.prefix, *secured.login(password="wrong-5ecret"))

    assert (result.exit_code, result.stdout) == (1, "")
    assert len(result.stderr.splitlines()) == 1
    assert "Check 'properties.sasl.username' and 'properties.sasl.password'" in result.stderr
    assert "5ecret" not in result.stderr


def test_a_certificate_that_is_not_trusted_is_told(secured, left_secured):
    (secured.folder / "other.pem").write_text(authority("other").certificate_pem)
    login = secured.login()
    file = Path(login[1])
    lines = [line for line in file.read_text().splitlines() if "truststore" not in line]
    file.write_text("\n".join([*lines, f"ssl.ca.location={secured.folder / 'other.pem'}"]))

    result = run("list", "--prefix", left_secured.prefix, *login)

    assert result.exit_code == 1
    assert "is not trusted: unable to get local issuer certificate" in result.stderr


def test_a_user_who_may_only_look_is_told_what_could_not_be_ended(secured, left_secured):
    prefix, login = left_secured.prefix, secured.login("alice")
    assert shows(run("list", "--prefix", prefix, *login).stdout, f"{prefix}-0")

    result = run("abort", "--prefix", prefix, *login, *NOW)

    assert result.exit_code == 1
    assert "aborted" not in result.stdout
    assert result.stderr.startswith(f"millrace: {prefix}-0 could not be aborted: ")
    assert "TRANSACTIONAL_ID_AUTHORIZATION_FAILED" in result.stderr
    assert left_secured.ids_now() == [f"{prefix}-0"]


def token() -> str:
    def part(claims: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()

    now = int(time.time())
    return f"{part({'alg': 'none'})}.{part({'sub': 'root', 'iat': now, 'exp': now + 300})}."


@pytest.fixture
def endpoint() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Gives tokens for a client's id and secret; the address, and what was asked of it."""
    asked_for: list[tuple[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            login = base64.b64decode(self.headers["Authorization"].removeprefix("Basic ")).decode()
            asked_for.append((login, self.rfile.read(int(self.headers["Content-Length"])).decode()))
            body = json.dumps({"access_token": token(), "token_type": "Bearer", "expires_in": 300}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/token", asked_for
    server.shutdown()
    thread.join()
    server.server_close()


def test_with_a_token_of_an_endpoint(secured, left_secured, endpoint):
    url, asked_for = endpoint
    arguments = secured.config(
        "OAUTH",
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="OAUTHBEARER",
        sasl_oauthbearer_token_endpoint_url=url,
        sasl_jaas_config=f'{OAUTH} required clientId="millrace" clientSecret="{PASSWORD}" scope="look";',
    )

    result = run("abort", "--prefix", left_secured.prefix, *arguments, *NOW)

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[-1] == f"aborted {left_secured.prefix}-0"
    assert set(asked_for) == {(f"millrace:{PASSWORD}", "grant_type=client_credentials&scope=look")}
    assert len(asked_for) >= 3  # the client that connects first, the one that lists, the one that aborts


def test_with_a_token_without_a_signature(secured, left_secured):
    claims = 'unsecuredLoginStringClaim_sub="root" unsecuredLoginListClaim_scope=",look,end"'
    arguments = secured.config(
        "OAUTH",
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="OAUTHBEARER",
        sasl_jaas_config=f"{OAUTH} required {claims};",
    )

    assert shows(run("list", "--prefix", left_secured.prefix, *arguments).stdout, f"{left_secured.prefix}-0")
