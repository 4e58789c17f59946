"""Advice on TLS errors, as OpenSSL itself raises them."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from millrace_formats.registry.tls import tls_hint
from support.certificates import authority, issue

ROOT = authority("root")


def handshake_error(folder: Path, *, trusts: bool, needs_certificate: bool) -> ssl.SSLError | None:
    """Connect a client to a server in memory, and return the client's error."""
    identity = issue("registry", ROOT, ["127.0.0.1"])
    (folder / "server.pem").write_text(identity.chain_pem + identity.key_pem())
    server_context, client_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    server_context.load_cert_chain(folder / "server.pem")
    server_context.load_verify_locations(cadata=ROOT.certificate_pem)
    server_context.verify_mode = ssl.CERT_REQUIRED if needs_certificate else ssl.CERT_NONE
    if trusts:
        client_context.load_verify_locations(cadata=ROOT.certificate_pem)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = client_context.wrap_bio(to_client, to_server, server_hostname="127.0.0.1")
    server = server_context.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(4):
        try:
            client.do_handshake()
            client.read()
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            return error
        try:
            server.do_handshake()
        except ssl.SSLError:
            continue
    return None


def caused_by(cause: BaseException | None) -> Exception:
    """Return an error of an HTTP client, which has another one between itself and the cause."""
    outer, inner = OSError("could not connect"), ConnectionError("connection failed")
    outer.__cause__, inner.__cause__ = inner, cause
    return outer


@pytest.mark.parametrize(
    ("trusts", "needs_certificate", "advice"),
    [
        (False, False, "; give the certificate of its authority by 'ssl.truststore.location'"),
        (True, True, "; give a client's certificate by 'ssl.keystore.location'"),
    ],
)
def test_the_missing_store_is_named(tmp_path: Path, trusts: bool, needs_certificate: bool, advice: str) -> None:
    error = handshake_error(tmp_path, trusts=trusts, needs_certificate=needs_certificate)
    assert error is not None
    assert tls_hint(caused_by(error)) == tls_hint(error) == advice


def test_there_is_no_advice_on_other_errors(tmp_path: Path) -> None:
    assert handshake_error(tmp_path, trusts=True, needs_certificate=False) is None
    assert tls_hint(caused_by(None)) == ""
    assert tls_hint(caused_by(ssl.SSLError(1, "another error"))) == ""
