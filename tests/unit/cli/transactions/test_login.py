import base64
import datetime
import json
import os
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding

from millrace.errors import ClientError, MachineError, OptionsError
from millrace_cli.transactions.login import login, tls_context
from millrace_cli.transactions.token import SingleToken
from support.certificates import authority, issue
from support.post_server import post_server


@pytest.fixture(scope="module")
def signer():
    return authority("root")


def test_without_security_there_is_nothing_but_the_protocol():
    assert login({}) == {"security_protocol": "PLAINTEXT"}


def test_names_and_authorities_are_checked_by_default(signer):
    context = tls_context({"ssl.ca.pem": signer.certificate_pem})
    assert (context.check_hostname, context.verify_mode) == (True, ssl.CERT_REQUIRED)
    assert context.cert_store_stats()["x509_ca"] == 1


def test_without_the_check_of_names_authorities_are_checked_still(signer):
    settings = {"ssl.ca.pem": signer.certificate_pem, "ssl.endpoint.identification.algorithm": "none"}
    context = tls_context(settings)
    assert (context.check_hostname, context.verify_mode) == (False, ssl.CERT_REQUIRED)


def test_checks_can_be_turned_off_as_a_whole():
    assert tls_context({"enable.ssl.certificate.verification": "false"}).verify_mode == ssl.CERT_NONE


def test_authorities_come_from_a_file_or_the_system(signer, tmp_path):
    file = tmp_path / "ca.pem"
    file.write_text(signer.certificate_pem)
    assert tls_context({"ssl.ca.location": str(file)}).cert_store_stats()["x509_ca"] == 1
    system = ssl.create_default_context().cert_store_stats()
    assert tls_context({"ssl.ca.location": "probe"}).cert_store_stats() == tls_context({}).cert_store_stats() == system


def test_a_folder_of_authorities_is_taken(tmp_path):
    assert tls_context({"ssl.ca.location": str(tmp_path)}).cert_store_stats()["x509"] == 0


def test_revoked_certificates_are_looked_up(signer, tmp_path):
    now = datetime.datetime.now(datetime.UTC)
    crl = (
        x509.CertificateRevocationListBuilder()
        .issuer_name(signer.certificate.subject)
        .last_update(now)
        .next_update(now + datetime.timedelta(days=1))
        .sign(signer.key, hashes.SHA256())
    )
    file = tmp_path / "crl.pem"
    file.write_bytes(crl.public_bytes(Encoding.PEM))
    context = tls_context({"ssl.ca.pem": signer.certificate_pem, "ssl.crl.location": str(file)})
    assert context.verify_flags & ssl.VERIFY_CRL_CHECK_LEAF
    assert context.cert_store_stats()["crl"] == 1


def test_ciphers_are_those_that_are_given():
    context = tls_context({"ssl.cipher.suites": "ECDHE-ECDSA-AES256-GCM-SHA384"})
    names = [each["name"] for each in context.get_ciphers() if each["protocol"] == "TLSv1.2"]
    assert names == ["ECDHE-ECDSA-AES256-GCM-SHA384"]


def test_an_encrypted_key_needs_its_password(signer):
    client = issue("client", signer)
    settings = {"ssl.certificate.pem": client.chain_pem, "ssl.key.pem": client.key_pem("5ecret")}
    tls_context({**settings, "ssl.key.password": "5ecret"})
    for wrong in ({}, {"ssl.key.password": "other-5ecret"}):
        with pytest.raises(OptionsError, match=r"TLS cannot be set up by options 'properties\.ssl\.\*'") as error:
            tls_context({**settings, **wrong})
        assert "5ecret" not in str(error.value)


def test_a_private_key_is_in_no_file_that_others_can_read(signer, tmp_path):
    seen = []

    class Context(ssl.SSLContext):
        """A context that notes the file of the key."""

        def load_cert_chain(self, certfile, keyfile=None, password=None):
            seen.append((Path(keyfile).read_text().splitlines()[0], oct(Path(keyfile).stat().st_mode & 0o777)))
            super().load_cert_chain(certfile, keyfile, password)

    client = issue("client", signer)
    settings = {"ssl.certificate.pem": client.chain_pem, "ssl.key.pem": client.key_pem()}
    old = os.umask(0)
    try:
        tls_context(settings, Context(ssl.PROTOCOL_TLS_CLIENT), tmp_path)
    finally:
        os.umask(old)
    assert seen == [("-----BEGIN PRIVATE KEY-----", "0o600")]
    assert list(tmp_path.iterdir()) == []


def test_kerberos_needs_a_library():
    with pytest.raises(MachineError, match="pip install gssapi"):
        login({"security.protocol": "SASL_PLAINTEXT"})


def test_passwords_are_handed_over():
    settings = {"sasl.mechanism": "SCRAM-SHA-512", "sasl.username": "alice", "sasl.password": "5ecret"}
    assert login({**settings, "security.protocol": "SASL_PLAINTEXT"}) == {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "alice",
        "sasl_plain_password": "5ecret",
    }


def claims(token):
    return [json.loads(base64.urlsafe_b64decode(part + "==")) for part in token.split(".")[:2]]


def test_a_token_without_a_signature_has_what_is_configured():
    words = "principalClaimName=azp principal=alice scopeClaimName=role scope=a,b lifeSeconds=60 extension_team=x"
    provider = SingleToken({"enable.sasl.oauthbearer.unsecure.jwt": "true", "sasl.oauthbearer.config": words})
    header, given = claims(provider.token())
    assert header == {"alg": "none"}
    assert given.pop("exp") - given.pop("iat") == 60
    assert given == {"azp": "alice", "role": ["a", "b"]}
    assert provider.extensions() == {"team": "x"}
    assert provider.token().endswith(".")


OIDC = {
    "sasl.oauthbearer.method": "oidc",
    "sasl.oauthbearer.client.id": "millrace",
    "sasl.oauthbearer.client.secret": "5ecret",
}


@pytest.mark.parametrize("missing", ["sasl.oauthbearer.method", "sasl.oauthbearer.client.secret"])
def test_other_ways_to_get_a_token_are_refused(missing):
    settings = {**OIDC, "sasl.oauthbearer.token.endpoint.url": "http://127.0.0.1:1/token"}
    with pytest.raises(OptionsError, match="other ways to get one are not supported"):
        SingleToken({name: value for name, value in settings.items() if name != missing})


@pytest.fixture
def endpoint():
    """Serve the answers that a test puts into a list."""
    answers = []

    with post_server(lambda *_: answers[0]) as url:
        yield f"{url}/token", answers


def test_a_token_comes_with_the_extensions_that_are_configured(endpoint):
    url, answers = endpoint
    answers.append((200, b'{"access_token": "a.b.c"}'))
    extensions = {"sasl.oauthbearer.extensions": "team=x,site=y"}
    provider = SingleToken({**OIDC, **extensions, "sasl.oauthbearer.token.endpoint.url": url})
    assert provider.token() == "a.b.c"
    assert provider.extensions() == {"team": "x", "site": "y"}


@pytest.mark.parametrize(
    ("code", "body", "said"), [(401, b"", "401"), (200, b"no json", "not a JSON object"), (200, b"{}", "access_token")]
)
def test_an_endpoint_that_gives_no_token_is_named(endpoint, code, body, said):
    url, answers = endpoint
    answers.append((code, body))
    with pytest.raises(ClientError, match=f"no token from {url} .*{said}") as error:
        SingleToken({**OIDC, "sasl.oauthbearer.token.endpoint.url": url})
    assert "5ecret" not in str(error.value)
