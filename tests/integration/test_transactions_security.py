"""`millrace transactions` with TLS, passwords, tokens and permissions."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)

from millrace_broker import KafkaBroker, Listener
from support.admin import add_permissions
from support.certificates import authority, issue, java_truststore
from support.kafka import QUICK_BROKER
from support.names import unique_name
from support.open_transactions import ABORT_ALL, OpenTransactions, run_command, shows
from support.post_server import post_server

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
OAUTH = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
VALIDATOR = (
    "org.apache.kafka.common.security.oauthbearer.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler"
)
PASSWORD = "user-5ecret"
STORE_PASSWORD = "store-5ecret"


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
    with KafkaBroker(listeners=listeners, properties=properties, java_options=QUICK_BROKER) as broker:
        looks = [
            AclBinding(kind, "*", ResourcePatternType.LITERAL, "User:alice", "*", operation, AclPermissionType.ALLOW)
            for kind, operation in (
                (ResourceType.TRANSACTIONAL_ID, AclOperation.DESCRIBE),
                (ResourceType.TOPIC, AclOperation.DESCRIBE),
            )
        ]
        add_permissions(broker.address("OPEN"), looks)
        broker.create_topic("secured")
        yield Secured(broker, folder)


@pytest.fixture
def left_secured(secured) -> Iterator[OpenTransactions]:
    here = OpenTransactions(secured.broker.address("OPEN"), unique_name("p"))
    here.open(f"{here.prefix}-0", "secured", 0)
    yield here
    here.end()


def test_with_tls_of_both_sides_and_a_password(secured, left_secured):
    prefix, login = left_secured.prefix, secured.login()

    assert shows(run_command("list", "--prefix", prefix, *login).stdout, f"{prefix}-0")
    aborted = run_command("abort", "--prefix", prefix, *login, *ABORT_ALL)

    assert (aborted.exit_code, aborted.stderr) == (0, "")
    assert aborted.stdout.splitlines()[-1] == f"aborted {prefix}-0"


@pytest.mark.nightly
def test_no_file_with_a_key_is_left(secured, left_secured, tmp_path):
    prefix, login = left_secured.prefix, secured.login()
    command = [sys.executable, "-m", "millrace_cli", "transactions", "list", "--prefix", prefix, *login]

    listed = subprocess.run(command, env={**os.environ, "TMPDIR": str(tmp_path)}, capture_output=True, text=True)

    assert (listed.returncode, listed.stderr) == (0, "")
    assert shows(listed.stdout, f"{prefix}-0")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.nightly
def test_pem_files_and_names_of_librdkafka(secured, left_secured):
    arguments = secured.login()
    file = Path(arguments[1])
    lines = [line for line in file.read_text().splitlines() if "store" not in line]
    lines += [
        f"ssl.ca.location={secured.folder / 'ca.pem'}",
        f"ssl.certificate.location={secured.folder / 'server.pem'}",
    ]
    file.write_text("\n".join([*lines, f"ssl.key.location={secured.folder / 'server.pem'}"]))

    assert shows(run_command("list", "--prefix", left_secured.prefix, *arguments).stdout, f"{left_secured.prefix}-0")


@pytest.mark.nightly
@pytest.mark.parametrize("command", ["list", "abort"])
def test_a_wrong_password_is_one_clear_message_without_it(secured, left_secured, command):
    result = run_command(command, "--prefix", left_secured.prefix, *secured.login(password="wrong-5ecret"))

    assert (result.exit_code, result.stdout) == (1, "")
    assert len(result.stderr.splitlines()) == 1
    assert "Check 'properties.sasl.username' and 'properties.sasl.password'" in result.stderr
    assert "5ecret" not in result.stderr


@pytest.mark.nightly
def test_a_certificate_that_is_not_trusted_is_told(secured, left_secured):
    (secured.folder / "other.pem").write_text(authority("other").certificate_pem)
    login = secured.login()
    file = Path(login[1])
    lines = [line for line in file.read_text().splitlines() if "truststore" not in line]
    file.write_text("\n".join([*lines, f"ssl.ca.location={secured.folder / 'other.pem'}"]))

    result = run_command("list", "--prefix", left_secured.prefix, *login)

    assert result.exit_code == 1
    assert "is not trusted: unable to get local issuer certificate" in result.stderr


@pytest.mark.nightly
def test_a_user_who_may_only_look_is_told_what_could_not_be_ended(secured, left_secured):
    prefix, login = left_secured.prefix, secured.login("alice")
    assert shows(run_command("list", "--prefix", prefix, *login).stdout, f"{prefix}-0")

    result = run_command("abort", "--prefix", prefix, *login, *ABORT_ALL)

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
    """Serve tokens for a client's id and secret; yield the address and the requests."""
    asked_for: list[tuple[str, str]] = []

    def answer(authorization: str, body: str) -> tuple[int, bytes]:
        asked_for.append((base64.b64decode(authorization.removeprefix("Basic ")).decode(), body))
        return 200, json.dumps({"access_token": token(), "token_type": "Bearer", "expires_in": 300}).encode()

    with post_server(answer) as url:
        yield f"{url}/token", asked_for


@pytest.mark.nightly
def test_with_a_token_of_an_endpoint(secured, left_secured, endpoint):
    url, asked_for = endpoint
    arguments = secured.config(
        "OAUTH",
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="OAUTHBEARER",
        sasl_oauthbearer_token_endpoint_url=url,
        sasl_jaas_config=f'{OAUTH} required clientId="millrace" clientSecret="{PASSWORD}" scope="look";',
    )

    result = run_command("abort", "--prefix", left_secured.prefix, *arguments, *ABORT_ALL)

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[-1] == f"aborted {left_secured.prefix}-0"
    assert set(asked_for) == {(f"millrace:{PASSWORD}", "grant_type=client_credentials&scope=look")}
    assert len(asked_for) >= 3  # the client that connects first, the one that lists, the one that aborts


@pytest.mark.nightly
def test_with_a_token_without_a_signature(secured, left_secured):
    claims = 'unsecuredLoginStringClaim_sub="root" unsecuredLoginListClaim_scope=",look,end"'
    arguments = secured.config(
        "OAUTH",
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="OAUTHBEARER",
        sasl_jaas_config=f"{OAUTH} required {claims};",
    )

    assert shows(run_command("list", "--prefix", left_secured.prefix, *arguments).stdout, f"{left_secured.prefix}-0")
