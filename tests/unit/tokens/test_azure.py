from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import jwt
import pytest

from millrace.errors import ClientError, OptionsError
from millrace.kafka.security.tokens import ProviderTokens
from millrace.testing import TokenProviderSuite
from millrace_tokens.azure import AzureOptions, AzureTokens
from support.certificates import authority, issue
from support.token_endpoint import CLIENT_ID, CLIENT_SECRET, TokenEndpoint, token_endpoint

BROKERS = ("acme.servicebus.windows.net:9093",)


@pytest.fixture(scope="module")
def entra(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TokenEndpoint]:
    """An authorization server with TLS, which azure-identity requires."""
    folder = tmp_path_factory.mktemp("entra")
    root = authority("root")
    server = issue("entra", root, ["127.0.0.1"])
    (folder / "ca.pem").write_text(root.certificate_pem)
    (folder / "chain.pem").write_text(server.chain_pem)
    (folder / "key.pem").write_text(server.key_pem())
    with pytest.MonkeyPatch.context() as patch, token_endpoint((folder / "chain.pem", folder / "key.pem")) as endpoint:
        patch.setenv("REQUESTS_CA_BUNDLE", str(folder / "ca.pem"))
        yield endpoint


@pytest.fixture(autouse=True)
def no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_TENANT_ID", "AZURE_AUTHORITY_HOST"):
        monkeypatch.delenv(name, raising=False)


def options(entra: TokenEndpoint, secret: str = CLIENT_SECRET, scope: str | None = None) -> AzureOptions:
    return AzureOptions(
        scope=scope,
        tenant_id="acme",
        client_id=CLIENT_ID,
        client_secret=secret,
        authority=entra.url,
        disable_instance_discovery=True,
    )


class TestAzure(TokenProviderSuite):
    @pytest.fixture(autouse=True)
    def _entra(self, entra: TokenEndpoint) -> None:
        self.entra = entra

    def make_provider(self) -> AzureTokens:
        return AzureTokens(options(self.entra))

    def secrets(self) -> list[str]:
        return [CLIENT_SECRET]


def test_an_application_logs_in_by_its_secret(entra: TokenEndpoint) -> None:
    token = AzureTokens(options(entra)).token(BROKERS)
    assert token.value == entra.issued[-1]
    assert jwt.decode(token.value, entra.key.public_key(), ["RS256"], audience="kafka")["sub"] == CLIENT_ID
    assert "https://acme.servicebus.windows.net/.default" in entra.scopes[-1].split()


def test_a_scope_can_be_given(entra: TokenEndpoint) -> None:
    AzureTokens(options(entra, scope="api://kafka/.default")).token(BROKERS)
    assert "api://kafka/.default" in entra.scopes[-1].split()


def test_the_environment_says_who_logs_in(entra: TokenEndpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_TENANT_ID", "acme")
    monkeypatch.setenv("AZURE_CLIENT_ID", CLIENT_ID)
    monkeypatch.setenv("AZURE_CLIENT_SECRET", CLIENT_SECRET)
    monkeypatch.setenv("AZURE_AUTHORITY_HOST", entra.url)
    token = AzureTokens(AzureOptions(disable_instance_discovery=True)).token(BROKERS)
    assert token.value == entra.issued[-1]


def test_a_wrong_secret_is_told_and_not_shown(entra: TokenEndpoint) -> None:
    tokens = ProviderTokens("azure", AzureTokens(options(entra, "wrong-5ecret")), BROKERS)
    with pytest.raises(
        ClientError, match=r"token provider 'azure'.*cannot get a token.*ClientAuthenticationError"
    ) as raised:
        tokens.current()
    assert "5ecret" not in str(raised.value)


def test_a_secret_requires_tenant_and_client() -> None:
    with pytest.raises(OptionsError, match=r"client-secret' requires .*tenant-id' and .*client-id'"):
        AzureTokens(AzureOptions(client_secret="hush")).token(BROKERS)
