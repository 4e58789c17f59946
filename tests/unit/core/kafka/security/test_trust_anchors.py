"""Settings for the certificates of a truststore; that brokers are trusted by them is in the integration tests."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from millrace.kafka.security.pem import StoreError
from millrace.kafka.security.trust_anchors import trust_settings
from support.certificates import authority, issue

ROOT = authority("root")
BETWEEN = authority("between", ROOT)
SERVER = issue("server", BETWEEN, ["localhost"])


def test_roots_are_given_as_they_are() -> None:
    roots = ROOT.certificate_pem + authority("another").certificate_pem
    assert trust_settings(roots) == {"ssl.ca.pem": roots}


@pytest.mark.parametrize("others", ["", ROOT.certificate_pem, SERVER.certificate_pem])
def test_an_intermediate_authority_is_trusted_by_itself_whatever_is_beside_it(others: str) -> None:
    (name, path), *more = trust_settings(BETWEEN.certificate_pem + others).items()
    assert (name, more) == ("ssl.ca.location", [])
    written = Path(path).read_text()
    assert written.count("-----BEGIN TRUSTED CERTIFICATE-----") == 1 + bool(others)
    # OpenSSL reads it, more than once
    for _ in range(2):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cafile=path)
        assert len(context.get_ca_certs()) == 1 + (others == ROOT.certificate_pem)


def test_the_same_certificates_are_written_once() -> None:
    assert trust_settings(BETWEEN.certificate_pem) == trust_settings(BETWEEN.certificate_pem)


def test_a_servers_own_certificate_is_refused_unless_it_has_signed_itself() -> None:
    with pytest.raises(StoreError, match="holds servers' own certificates alone"):
        trust_settings(SERVER.certificate_pem)
    own = authority("self-signed").certificate_pem
    assert trust_settings(own) == {"ssl.ca.pem": own}


def test_what_cannot_be_parsed_is_left_to_openssl() -> None:
    text = "-----BEGIN CERTIFICATE-----\nbm8gY2VydGlmaWNhdGU=\n-----END CERTIFICATE-----\n"
    assert trust_settings(text) == {"ssl.ca.pem": text}
