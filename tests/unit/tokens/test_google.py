from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from millrace.errors import ClientError, OptionsError
from millrace.kafka.security.tokens import ProviderTokens
from millrace.testing import TokenProviderSuite
from millrace_tokens.google import GoogleOptions, GoogleTokens
from support.token_endpoint import TokenEndpoint, token_endpoint

ACCOUNT = "reader@acme.iam.gserviceaccount.com"
BROKERS = ("bootstrap.demo.europe-west1.managedkafka.acme.cloud.goog:9092",)


@pytest.fixture(scope="module")
def google() -> Iterator[TokenEndpoint]:
    with token_endpoint() as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def key_file(google: TokenEndpoint, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The key of a service account, whose tokens come from the server on loopback."""
    key = rsa.generate_private_key(65537, 2048)
    google.account_key = key.public_key()
    path = tmp_path_factory.mktemp("google") / "account.json"
    content = {
        "type": "service_account",
        "project_id": "acme",
        "private_key_id": "first",
        "private_key": key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
        "client_email": ACCOUNT,
        "client_id": "1",
        "token_uri": f"{google.url}/token",
    }
    path.write_text(json.dumps(content))
    return path


class TestGoogle(TokenProviderSuite):
    @pytest.fixture(autouse=True)
    def _key_file(self, key_file: Path) -> None:
        self.key_file = key_file

    def make_provider(self) -> GoogleTokens:
        return GoogleTokens(GoogleOptions(service_account_file=str(self.key_file)))


def decoded(part: str) -> str:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode()


def test_an_access_token_is_wrapped_as_the_service_expects_it(google: TokenEndpoint, key_file: Path) -> None:
    token = GoogleTokens(GoogleOptions(service_account_file=str(key_file))).token(BROKERS)
    header, claims, access_token = map(decoded, token.value.split("."))
    assert json.loads(header) == {"typ": "JWT", "alg": "GOOG_OAUTH2_TOKEN"}
    assert access_token == google.issued[-1]
    given = json.loads(claims)
    assert (given["iss"], given["scope"], given["sub"]) == ("Google", "kafka", ACCOUNT)
    assert given["exp"] == token.expires_at
    assert token.principal == ACCOUNT


def test_application_default_credentials_are_found(
    google: TokenEndpoint, key_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(key_file))
    assert decoded(GoogleTokens().token(BROKERS).value.split(".")[2]) == google.issued[-1]


def test_a_missing_file_is_told() -> None:
    with pytest.raises(OptionsError, match=r"provider\.service-account-file': there is no file 'nowhere\.json'"):
        GoogleTokens(GoogleOptions(service_account_file="nowhere.json")).token(BROKERS)


def test_a_refused_account_is_told(google: TokenEndpoint, key_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(google, "account_key", rsa.generate_private_key(65537, 2048).public_key())
    tokens = ProviderTokens("google", GoogleTokens(GoogleOptions(service_account_file=str(key_file))), BROKERS)
    with pytest.raises(ClientError, match=r"token provider 'google'.*cannot get a token: RefreshError.*invalid_client"):
        tokens.current()


def test_credentials_of_a_user_need_a_principal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "user.json"
    user = {"type": "authorized_user", "client_id": "me", "client_secret": "hush", "refresh_token": "hush"}
    path.write_text(json.dumps(user))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
    with pytest.raises(OptionsError, match=r"provider\.principal' is required"):
        GoogleTokens().token(BROKERS)
