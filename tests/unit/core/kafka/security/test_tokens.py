from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from millrace.contracts import Token, TokenProvider
from millrace.errors import ClientError, MachineError
from millrace.kafka.security.tokens import ProviderTokens, TokenCallback
from millrace.options import option


@dataclass(frozen=True)
class HushOptions:
    secret: str = option("secret", default="hush", doc="A secret.")


class Numbered(TokenProvider):
    """A provider of numbered tokens, each valid for 100 seconds; it fails on demand."""

    Options = HushOptions

    def __init__(self, options: object = None) -> None:
        super().__init__(options)
        self.now = 1000.0
        self.count = 0
        self.failure: Exception | None = None
        self.token_to_return: Token | None = None
        self.asked_for: Sequence[str] = ()

    def token(self, bootstrap_servers: Sequence[str]) -> Token:
        self.asked_for = bootstrap_servers
        if self.failure is not None:
            raise self.failure
        self.count += 1
        return self.token_to_return or Token(f"token-{self.count}", self.now + 100, "alice", {"pool": "p"})


@pytest.fixture
def provider() -> Numbered:
    return Numbered()


@pytest.fixture
def tokens(provider: Numbered) -> ProviderTokens:
    return ProviderTokens("numbered", provider, ("b:1",), lambda: provider.now)


def test_clients_share_a_token_for_half_of_its_lifetime(provider: Numbered, tokens: ProviderTokens) -> None:
    assert tokens.current().value == "token-1"
    provider.now += 49
    assert tokens.current().value == "token-1"
    provider.now += 2
    assert tokens.current().value == "token-2"
    assert provider.asked_for == ("b:1",)


def test_a_refresh_by_the_client_gets_a_new_token(provider: Numbered, tokens: ProviderTokens) -> None:
    created_at = provider.now + 49
    tokens.current()
    provider.now = created_at
    shared = tokens.current()
    # librdkafka's moment for it: 80 % of what was left
    provider.now += 0.8 * (shared.expires_at - created_at)
    assert tokens.current().value == "token-2"


def test_a_valid_token_is_used_while_the_provider_fails(provider: Numbered, tokens: ProviderTokens) -> None:
    tokens.current()
    provider.failure = ConnectionError("no route")
    provider.now += 98
    assert tokens.current().value == "token-1"
    provider.now += 1.5
    with pytest.raises(ClientError, match="ConnectionError: no route"):
        tokens.current()
    provider.failure = None
    assert tokens.current().value == "token-2"


def test_a_failure_names_the_provider_and_hides_secrets(provider: Numbered, tokens: ProviderTokens) -> None:
    provider.failure = RuntimeError("401 for client with secret hush")
    with pytest.raises(ClientError) as raised:
        tokens.current()
    assert str(raised.value) == (
        "token provider 'numbered' (option 'properties.sasl.oauthbearer.provider') cannot get a token: RuntimeError: "
        "401 for client with secret ***"
    )
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__


def test_an_error_of_millrace_is_kept(provider: Numbered, tokens: ProviderTokens) -> None:
    provider.failure = MachineError("install it")
    with pytest.raises(MachineError, match=r"^install it$"):
        tokens.current()


@pytest.mark.parametrize(
    ("token", "problem"),
    [
        (Token("", 2000), "a token that is empty or has other characters"),
        (Token("a b", 2000), "a token that is empty or has other characters"),
        (Token("a", 999), "a token that has expired; compare the clocks"),
        (Token("a", 1000.5), "a token that expires at once"),
        (Token("a", 2000, extensions={"pool-id": "p"}), "extension 'pool-id'; names of extensions consist of letters"),
        ("a", "a str, not a millrace.contracts.Token"),
    ],
)
def test_a_useless_token_is_refused(provider: Numbered, tokens: ProviderTokens, token: Token, problem: str) -> None:
    provider.token_to_return = token
    with pytest.raises(ClientError, match=problem):
        tokens.current()


def test_the_callback_returns_what_the_client_expects(tokens: ProviderTokens) -> None:
    assert TokenCallback(tokens, {"more": "m"})("") == ("token-1", 1100.0, "alice", {"pool": "p", "more": "m"})


def test_the_callback_keeps_the_failure_until_it_succeeds(provider: Numbered, tokens: ProviderTokens) -> None:
    callback = TokenCallback(tokens, {})
    provider.failure = ConnectionError("no route")
    with pytest.raises(ClientError):
        callback("")
    assert "no route" in callback.failure
    provider.failure = None
    callback("")
    assert callback.failure == ""


def test_no_text_shows_a_token() -> None:
    assert "hush" not in repr(Token("hush", 1.0, extensions={"a": "hush"}))
