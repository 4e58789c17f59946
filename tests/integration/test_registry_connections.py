"""Connections to a schema registry: addresses, logins and TLS, and what is said where they fail."""

from __future__ import annotations

import base64
import json
import ssl
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pyarrow as pa
import pytest

from millrace.contracts import Payloads
from millrace.errors import OptionsError, RegistryError
from millrace_formats.avro.confluent_format import AvroConfluentFormat
from millrace_formats.avro.registry.options import AvroRegistryOptions
from millrace_formats.registry.client import RegistryClient
from millrace_formats.registry.schema_registry import SchemaRegistry
from support.certificates import authority, issue, java_truststore
from support.command_line import run_command
from support.kafka import produce
from support.registry_gate import gate, token_endpoint
from support.waiting import PATIENCE_S
from unit.formats.avro.datums import framed

SCHEMA = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}


@pytest.fixture
def subject(request: pytest.FixtureRequest) -> str:
    return f"{request.node.name}-value"


def read(url: str, item: bytes, **more: Any) -> list[dict[str, Any]]:
    options = AvroRegistryOptions(url=url, properties=(("max.retries", "0"), ("timeout", "5")), **more)
    decoder = AvroConfluentFormat(options).decoder(pa.schema([("id", pa.int64())]))
    rows: list[dict[str, Any]] = decoder.decode(Payloads([item])).rows.to_pylist()
    return rows


@pytest.fixture
def item(registry: Any, subject: str) -> bytes:
    return framed(registry.register(subject, SCHEMA), SCHEMA, {"id": 1})


def test_a_registry_that_cannot_be_reached(item: bytes) -> None:
    with pytest.raises(RegistryError) as caught:
        read("http://user:hush@127.0.0.1:1", item)
    assert "the schema registry at http://127.0.0.1:1 (option 'avro-confluent.url') cannot be reached" in str(
        caught.value
    )
    assert "hush" not in str(caught.value)


def test_an_address_without_a_registry(registry: Any, item: bytes) -> None:
    with pytest.raises(RegistryError, match=r"answers 404: .*; is this its whole address\?"):
        read(registry.url.removesuffix("/apis/ccompat/v7"), item)


def test_tasks_create_a_subject_at_the_same_moment(registry: Any, subject: str) -> None:
    options = AvroRegistryOptions(url=registry.url)
    together = Barrier(4)

    def register(number: int) -> int:
        # Tasks of other processes have clients of their own
        found: SchemaRegistry[Any] = SchemaRegistry(RegistryClient("avro-confluent", options), "AVRO", str)
        together.wait(PATIENCE_S)
        return found.register(f"{subject}-{number}", json.dumps(SCHEMA), is_new=True)

    with ThreadPoolExecutor(4) as tasks:
        ids = [set(tasks.map(register, [number] * 4)) for number in range(5)]

    assert [len(each) for each in ids] == [1] * 5


def test_several_registries_are_tried_in_turn(registry: Any, item: bytes) -> None:
    assert read(f"http://127.0.0.1:1,{registry.url}", item) == [{"id": 1}]


def test_basic_auth(registry: Any, item: bytes) -> None:
    with gate(registry.url, "Basic " + base64.b64encode(b"ann:p@ss:word").decode()) as url:
        assert read(url, item, basic_user_info="ann:p@ss:word") == [{"id": 1}]
        with_login = url.replace("http://", "http://ann:p%40ss%3Aword@")
        assert read(with_login, item) == read(with_login, item, basic_source="URL") == [{"id": 1}]
        for more in ({}, {"basic_user_info": "ann:hush"}):
            with pytest.raises(RegistryError) as caught:
                read(url, item, **more)
            assert "refuses to answer without a valid login (401: Unauthorized)" in str(caught.value)
            assert "'avro-confluent.basic-auth.*'" in str(caught.value)
            assert "hush" not in str(caught.value)


def test_bearer_auth(registry: Any, item: bytes) -> None:
    with gate(registry.url, "Bearer t0ken") as url:
        assert read(url, item, bearer_token="t0ken", bearer_source="STATIC_TOKEN") == [{"id": 1}]
        with pytest.raises(RegistryError, match="refuses to answer without a valid login"):
            read(url, item, bearer_token="other")


def test_recordings_get_and_register_schemas_with_a_token_of_oauth(
    registry: Any, broker: Any, make_topic: Any, tmp_path: Any
) -> None:
    source, target = make_topic(1), make_topic(1)
    produce(
        broker.bootstrap_servers,
        source,
        [{"value": framed(registry.register(f"{source}-value", SCHEMA), SCHEMA, {"id": 1})}],
    )
    servers, file = ("--bootstrap-servers", broker.bootstrap_servers), tmp_path / "sample.jsonl"
    with gate(registry.url, "Bearer t0ken") as url, token_endpoint("reader", "hush", "t0ken") as tokens:
        login = {
            "bearer-auth.credentials-source": "OAUTHBEARER",
            "properties.bearer.auth.client.id": "reader",
            "properties.bearer.auth.client.secret": "hush",
            "properties.bearer.auth.scope": "all",
            "properties.bearer.auth.issuer.endpoint.url": tokens,
        }
        options = [text for name, value in login.items() for text in ("--registry-option", f"{name}={value}")]
        recorded = run_command("record", source, file, *servers, "--registry", url, *options)
        assert recorded.output.endswith("; 1 schema\n"), recorded.output
        replayed = run_command("replay", file, *servers, "--topic", target, "--registry", url, *options)
        assert replayed.exit_code == 0, replayed.output
        shown = run_command("peek", source, *servers, "--registry", url, *options)
        assert (shown.exit_code, "avro-confluent" in shown.output) == (0, True), shown.output
        refused = run_command("record", source, tmp_path / "other.jsonl", *servers, "--registry", url)
        assert "the schema registry refuses" in refused.output
    assert registry.versions(f"{target}-value") == 1


def test_tls_with_stores(registry: Any, item: bytes, tmp_path: Any) -> None:
    root = authority("root")
    server, client = issue("registry", root, ["127.0.0.1"]), issue("client", root)
    (tmp_path / "root.pem").write_text(root.certificate_pem)
    (tmp_path / "server.pem").write_text(server.chain_pem + server.key_pem())
    (tmp_path / "client.p12").write_bytes(client.pkcs12("secret"))
    java_truststore(tmp_path / "trust.jks", tmp_path / "root.pem", "changeit", "JKS")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem")
    context.load_verify_locations(tmp_path / "root.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    trust = {"truststore": str(tmp_path / "trust.jks"), "truststore_password": "changeit"}
    own = {"keystore": str(tmp_path / "client.p12"), "keystore_password": "secret"}
    with gate(registry.url, tls=context) as url:
        assert read(url, item, **trust, **own) == [{"id": 1}]
        with pytest.raises(RegistryError, match=r"cannot be reached.*ssl.truststore.location"):
            read(url, item, **own)
        with pytest.raises(RegistryError, match="cannot be reached"):
            read(url, item, **trust)
    with pytest.raises(OptionsError, match=r"option 'avro-confluent.ssl.keystore.location': the password is wrong"):
        read(registry.url, item, **trust, **own | {"keystore_password": "hush"})
    with pytest.raises(OptionsError, match=r"'avro-confluent.ssl.truststore.location': there is no file 'nowhere.jks'"):
        read(registry.url, item, truststore="nowhere.jks")
