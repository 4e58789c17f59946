from __future__ import annotations

import functools
import logging
import os
import socket
from collections.abc import Mapping
from pathlib import Path

import pytest
from confluent_kafka import Consumer

from millrace.errors import OptionsError
from millrace.kafka.client_settings import PRODUCER_PROPERTIES, client_settings, without_producer_properties
from millrace.options.files import FindFile, find_file
from millrace.options.secrets import Properties
from support.certificates import authority, issue

ROOT = authority("root")
CLIENT = issue("client", ROOT)


def settings(find: FindFile = find_file, **properties: str) -> Properties:
    given = {name.replace("_", "."): value for name, value in properties.items()}
    return client_settings(Properties({"bootstrap.servers": "127.0.0.1:1", **given}), find)


def problem(find: FindFile = find_file, **properties: str) -> str:
    with pytest.raises(OptionsError) as error:
        settings(find, **properties)
    assert "hush" not in str(error.value)
    (told,) = error.value.problems
    return told


def test_stores_become_pem_that_the_client_accepts(tmp_path: Path) -> None:
    (tmp_path / "trust.pem").write_text(ROOT.certificate_pem)
    (tmp_path / "key.p12").write_bytes(CLIENT.pkcs12("hush"))
    made = settings(
        security_protocol="SSL",
        ssl_truststore_location=str(tmp_path / "trust.pem"),
        ssl_truststore_type="PEM",
        ssl_keystore_location=str(tmp_path / "key.p12"),
        ssl_keystore_password="hush",
    )
    assert {name: value for name, value in made.items() if name != "client.id"} == {
        "bootstrap.servers": "127.0.0.1:1",
        "security.protocol": "SSL",
        "ssl.ca.pem": ROOT.certificate_pem,
        "ssl.certificate.pem": CLIENT.certificate_pem,
        "ssl.key.pem": CLIENT.key_pem(),
    }
    assert "PRIVATE" not in repr(made)
    Consumer({**made, "group.id": "g", "log_level": 0})


_VALUES = {
    "acks": "all",
    "compression.codec": "lz4",
    "compression.type": "lz4",
    "enable.gapless.guarantee": "false",
    "enable.idempotence": "true",
    "queuing.strategy": "fifo",
    "request.required.acks": "all",
}


def warn(client: Mapping[str, str]) -> None:
    """Let a consumer warn of the properties that it ignores."""
    log = logging.getLogger("millrace.kafka")
    consumer = Consumer({"bootstrap.servers": "127.0.0.1:1", "group.id": "g", **client, "logger": log})
    consumer.poll(0)
    consumer.close()


@pytest.mark.parametrize("name", sorted(PRODUCER_PROPERTIES))
def test_a_consumer_with_a_sinks_properties_warns_of_none(name: str, caplog: pytest.LogCaptureFixture) -> None:
    given = Properties({name: _VALUES.get(name, "1000" if name == "transaction.timeout.ms" else "5")})
    warn(given)
    # Of a property with two names the warning has the other one
    assert "is a producer property and will be ignored" in caplog.text
    caplog.clear()
    warn(without_producer_properties(given))
    assert "CONFWARN" not in caplog.text


def test_without_files_the_properties_stay_as_they_are() -> None:
    given = {"bootstrap.servers": "127.0.0.1:1", "sasl.password": "hush", "client.id": "me"}
    assert settings(sasl_password="hush", client_id="me") == Properties(given)


def test_clients_have_an_id_of_their_process() -> None:
    here = f"{socket.gethostname()}-{os.getpid()}"
    assert settings()["client.id"] == f"millrace-{here}"
    assert settings(client_id_prefix="orders")["client.id"] == f"orders-{here}"


def test_they_are_made_once_in_a_process() -> None:
    assert settings(client_id="once") is settings(client_id="once")


@pytest.mark.parametrize("name", ["ssl_ca_location", "sasl_kerberos_keytab", "ssl_key_location"])
def test_files_of_librdkafkas_own_options_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (tmp_path / "here").touch()
    monkeypatch.chdir(tmp_path)
    assert settings(**{name: "here"})[name.replace("_", ".")] == "here"
    assert problem(**{name: "nowhere"}).startswith(f"option 'properties.{name.replace('_', '.')}': there is no file")


def test_the_systems_authorities_need_no_file() -> None:
    assert settings(ssl_ca_location="probe")["ssl.ca.location"] == "probe"


def finder(folder: Path | None) -> FindFile:
    """Find files as in a process whose files Spark has put into a folder."""
    return functools.partial(find_file, distributed_files=lambda: folder)


def test_a_missing_file_is_told_with_both_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert problem(finder(tmp_path / "distributed"), ssl_truststore_location="certs/trust.jks") == (
        f"option 'properties.ssl.truststore.location': there is no file 'certs/trust.jks' on host "
        f"{socket.gethostname()}; looked at {tmp_path}/certs/trust.jks and {tmp_path}/distributed/trust.jks. Put it "
        f"there on the driver and all executors, or let Spark distribute it, by its setting 'spark.files' or by "
        f"spark.addArtifact(path, file=True) or SparkContext.addFile(path), and give the option the file's name alone"
    )


def test_a_distributed_file_is_found_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "trust.jks").touch()
    for name in ("trust.jks", "./trust.jks", "/gone/trust.jks"):
        assert settings(finder(tmp_path), ssl_ca_location=name)["ssl.ca.location"] == str(tmp_path / "trust.jks")


def test_an_existing_file_is_used_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "trust.jks").touch()
    given = str(tmp_path / "trust.jks")
    assert settings(ssl_ca_location=given)["ssl.ca.location"] == given


def test_without_spark_there_is_one_place_to_look_at() -> None:
    assert "there is no Spark in this process" in problem(finder(None), ssl_ca_location="nowhere")


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    assert problem(ssl_keystore_location=str(tmp_path)) == (
        f"option 'properties.ssl.keystore.location': {tmp_path} cannot be read: Is a directory"
    )


def test_a_store_without_what_it_is_given_for_is_told(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text(ROOT.certificate_pem)
    (tmp_path / "key.pem").write_text(CLIENT.key_pem())
    assert problem(ssl_keystore_location=str(tmp_path / "ca.pem")) == (
        "option 'properties.ssl.keystore.location': it holds no private key"
    )
    assert problem(ssl_truststore_location=str(tmp_path / "key.pem")) == (
        "option 'properties.ssl.truststore.location': it holds no certificate to trust"
    )
    assert problem(ssl_truststore_certificates="hush") == (
        "option 'properties.ssl.truststore.certificates': it is neither PEM, JKS nor PKCS#12, or damaged"
    )
    assert problem(ssl_keystore_key=CLIENT.key_pem(), ssl_keystore_certificate_chain="hush") == (
        "option 'properties.ssl.keystore.key': it holds no certificate"
    )


def test_a_missing_password_is_told(tmp_path: Path) -> None:
    (tmp_path / "key.p12").write_bytes(CLIENT.pkcs12("hush"))
    assert problem(ssl_keystore_location=str(tmp_path / "key.p12")) == (
        f"option 'properties.ssl.keystore.password': the password is wrong, or the file is damaged (it is not given); "
        f"looked at '{tmp_path}/key.p12'"
    )
