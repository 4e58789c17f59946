"""TLS of a registry's client: the certificates that it trusts, and advice on errors as OpenSSL and httpx raise them."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2
import pytest

from millrace_formats.registry.client import RegistryClient
from millrace_formats.registry.options import RegistryOptions
from millrace_formats.registry.tls import tls_hint
from support.certificates import Identity, authority, issue

ROOT = authority("root")
BETWEEN = authority("between", ROOT)


@contextmanager
def tls_server(
    folder: Path, *, needs_certificate: bool = False, identity: Identity | None = None, answer: bytes = b""
) -> Iterator[str]:
    """Accept one connection, answer its first request, and end it."""
    identity = identity or issue("registry", ROOT, ["127.0.0.1"])
    (folder / "server.pem").write_text(identity.chain_pem + identity.key_pem())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    context.load_verify_locations(cadata=ROOT.certificate_pem)
    context.verify_mode = ssl.CERT_REQUIRED if needs_certificate else ssl.CERT_NONE
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            # What the client sends must be read: an alert would be lost in a reset
            with connection, suppress(OSError), context.wrap_socket(connection, server_side=True) as encrypted:
                encrypted.recv(1000)
                encrypted.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"https://127.0.0.1:{listener.getsockname()[1]}/"
        thread.join()


@pytest.mark.parametrize(
    ("trusted", "needs_certificate", "advice"),
    [
        ("other", False, "; give the certificate of its authority by 'ssl.truststore.location'"),
        ("root", True, "; give a client's certificate by 'ssl.keystore.location'"),
        ("root", False, ""),
    ],
)
def test_the_missing_store_is_named(tmp_path: Path, trusted: str, needs_certificate: bool, advice: str) -> None:
    authorities = {"root": ROOT, "other": authority("other")}
    context = ssl.create_default_context(cadata=authorities[trusted].certificate_pem)
    with (
        tls_server(tmp_path, needs_certificate=needs_certificate) as url,
        httpx2.Client(verify=context) as client,
        pytest.raises(httpx2.TransportError) as error,
    ):
        client.get(url)
    assert tls_hint(error.value) == advice


def test_there_is_no_advice_on_other_errors() -> None:
    assert tls_hint(ConnectionError("refused")) == ""
    assert tls_hint(ssl.SSLError(1, "another error")) == ""


@pytest.mark.parametrize("trusted", ["root", "intermediate", "own"])
def test_a_registry_is_trusted_by_its_root_its_intermediate_or_its_own_certificate(
    tmp_path: Path, trusted: str
) -> None:
    identity = issue("registry", BETWEEN, ["127.0.0.1"])
    store = tmp_path / "trust.pem"
    store.write_text({"root": ROOT, "intermediate": BETWEEN, "own": identity}[trusted].certificate_pem)
    answer = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 7\r\n\r\n["one"]'
    with tls_server(tmp_path, identity=identity, answer=answer) as url:
        options = RegistryOptions(url=url, truststore=str(store), properties=(("max.retries", "0"),))
        client = RegistryClient("avro-confluent", options)
        assert client.call(lambda library: library.get_subjects(), "its subjects") == ["one"]
