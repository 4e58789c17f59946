"""The secured tables of the reference's pages write and read rows, as written but for addresses and paths of files.

The broker has the users and passwords of the pages. The table that Kerberos secures is in tests/kerberos.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from confluent_kafka.admin import ScramCredentialInfo, ScramMechanism, UserScramCredentialUpsertion

from millrace_broker import KafkaBroker, Listener
from millrace_sql import TableEnvironment
from millrace_sql.parser import parse
from millrace_sql.render import render
from support.admin import add_passwords
from support.certificates import authority, issue, java_keystore, java_truststore
from support.reference_sql import DEFAULTS, at_brokers, complete_examples

EXAMPLES = complete_examples()
LISTENERS = {
    "000:762": "PASSWORDS",
    "000:777": "ELSEWHERE",
    "001:697": "PASSWORDS",
    "001:712": "PASSWORDS",
    "001:730": "TLS",
    "001:755": "TLS",
}
"""The listener that each example logs in to; the one of page 000 over TLS does not check the name of the host."""

USER, PASSWORD, STORES_PASSWORD = "username", "password", "test1234"
MODULES = "org.apache.kafka.common.security"
TRUSTSTORE, KEYSTORE = "kafka.client.truststore.jks", "kafka.client.keystore.jks"

pytestmark = [pytest.mark.nightly, pytest.mark.cases]


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the client's stores, named as on the pages, and of the brokers' certificates."""
    folder = tmp_path_factory.mktemp("stores")
    root = authority("root")
    (folder / "ca.pem").write_text(root.certificate_pem)
    (folder / "client.p12").write_bytes(issue("client", root).pkcs12(STORES_PASSWORD))
    java_truststore(folder / TRUSTSTORE, folder / "ca.pem", STORES_PASSWORD, "JKS")
    passwords = [STORES_PASSWORD] * 3
    java_keystore(folder / KEYSTORE, folder / "client.p12", *passwords, "JKS")
    for name, host in {"TLS": "127.0.0.1", "ELSEWHERE": "kafka.example"}.items():
        server = issue(name, root, [host])
        (folder / f"{name}.pem").write_text(server.key_pem() + server.chain_pem)
    return folder


@pytest.fixture(scope="module")
def secured(stores: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaBroker]:
    plain = {
        "sasl.enabled.mechanisms": "PLAIN",
        "plain.sasl.jaas.config": f'{MODULES}.plain.PlainLoginModule required user_{USER}="{PASSWORD}";',
    }
    # Clients without a keystore are refused
    scram = {
        "sasl.enabled.mechanisms": "SCRAM-SHA-256",
        "scram-sha-256.sasl.jaas.config": f"{MODULES}.scram.ScramLoginModule required;",
        "ssl.client.auth": "required",
        "ssl.keystore.type": "PEM",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(stores / "ca.pem"),
    }
    listeners = [Listener("OPEN"), Listener("PASSWORDS", "SASL_PLAINTEXT", config=plain)]
    for name in ("TLS", "ELSEWHERE"):
        config = {**scram, "ssl.keystore.location": str(stores / f"{name}.pem")}
        listeners.append(Listener(name, "SASL_SSL", config=config))
    with KafkaBroker(listeners=listeners, data_dir=tmp_path_factory.mktemp("kafka")) as broker:
        scram_sha_256 = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
        user = UserScramCredentialUpsertion(USER, scram_sha_256, PASSWORD.encode())
        add_passwords(broker.address("OPEN"), [user])
        yield broker


@pytest.mark.parametrize("name", LISTENERS)
def test_a_secured_table_is_written_and_read(name: str, spark, secured: KafkaBroker, stores: Path) -> None:
    topic = f"of-{name.replace(':', '-')}"
    secured.create_topic(topic)
    (table,) = parse(EXAMPLES[name])
    files = {key: str(stores / Path(value).name) for key, value in table.options.items() if key.endswith(".location")}
    assert len(files) == (0 if LISTENERS[name] == "PASSWORDS" else 2)
    here = at_brokers(table, secured.address(LISTENERS[name]), {"KafkaTable": {"topic": topic, **DEFAULTS, **files}})
    env = TableEnvironment(spark, config={"execution.runtime-mode": "batch"})
    env.execute_sql(render(here))
    env.execute_sql("INSERT INTO KafkaTable VALUES (7, 8, 'buy', TIMESTAMP'2024-05-06 07:08:09.010Z')")

    rows = env.sql_query("SELECT user_id, item_id, behavior, unix_millis(ts) AS ms FROM KafkaTable").collect()

    written_ms = int(datetime.fromisoformat("2024-05-06T07:08:09.010Z").timestamp() * 1000)
    assert [tuple(row) for row in rows] == [(7, 8, "buy", written_ms)]
