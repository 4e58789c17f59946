"""The conformance suite for token providers."""
# ruff: noqa: D102, S101 - tests are made of assertions, and their names say what the contract asks

from __future__ import annotations

import re
import time
from abc import abstractmethod
from collections.abc import Sequence

from millrace.contracts import Token, TokenProvider
from millrace.testing.plugin_options import PluginOptionsSuite


class TokenProviderSuite(PluginOptionsSuite):
    """Tests that a token provider keeps its contract.

    Subclass it in a test module, with a name that pytest collects, and override one member, or more::

        class TestVault(TokenProviderSuite):
            def make_provider(self):
                return VaultTokens(VaultOptions(url=server.url, secret="hush"))

            def secrets(self):
                return ["hush"]

    Where the provider asks a server, the tests start one, such as `http.server` on 127.0.0.1.

    Rules that the tests check:

    - Options are hashable, since processes keep clients and tokens by them, and their text shows no secret.
    - ``token`` may be called again and again, and gives a token that has not expired, by seconds since 1970; a later
      one does not expire earlier.
    - A token consists of visible ASCII characters; names of extensions of letters, their values of ASCII.
    - The text of a token does not show it. An executor, which makes the provider of pickled options, gets one for the
      same principal, with the same extensions.
    """

    @abstractmethod
    def make_provider(self) -> TokenProvider:
        """Make a new provider with valid options."""

    def bootstrap_servers(self) -> Sequence[str]:
        """Return the brokers to log in to."""
        return ("broker.example:9093",)

    def secrets(self) -> Sequence[str]:
        """Return the values of the options that must not be shown."""
        return ()

    def make_plugin(self) -> TokenProvider:
        return self.make_provider()

    def test_is_a_token_provider(self) -> None:
        assert isinstance(self.make_provider(), TokenProvider), "subclass millrace.contracts.TokenProvider"

    def test_options_are_hashable(self) -> None:
        # They are part of the keys under which processes keep clients and tokens
        assert hash(self.make_provider().options) == hash(self.make_provider().options), (
            "equal options must have equal hashes: use tuples in place of lists, and no dictionaries"
        )

    def test_options_show_no_secret(self) -> None:
        shown = repr(self.make_provider().options)
        assert not [secret for secret in self.secrets() if secret in shown], "give option(...) is_hidden=True"

    def test_token_is_one(self) -> None:
        check_token(self._token(self.make_provider()))

    def test_text_of_a_token_does_not_show_it(self) -> None:
        token = self._token(self.make_provider())
        assert token.value not in repr(token), "the text of a token must not show it: return a millrace.contracts.Token"

    def test_another_token_is_not_older(self) -> None:
        provider = self.make_provider()
        first = self._token(provider)
        second = self._token(provider)
        check_token(second)
        # Libraries that keep a token and its lifetime compute its expiry again, in whole seconds
        assert second.expires_at >= first.expires_at - 2, "a token that is asked for later must not expire earlier"

    def test_executors_make_the_same_provider(self) -> None:
        remade = self.remake_plugin()
        assert isinstance(remade, TokenProvider), "an executor makes the provider of its class and its options"
        token, expected = self._token(remade), self._token(self.make_provider())
        check_token(token)
        assert (token.principal, token.extensions) == (expected.principal, expected.extensions), (
            "a provider made of pickled options must get tokens for the same principal, with the same extensions"
        )

    def _token(self, provider: TokenProvider) -> Token:
        return provider.token(tuple(self.bootstrap_servers()))


def check_token(token: Token) -> None:
    """Check a token as the client and a broker would."""
    assert isinstance(token, Token), f"expected a millrace.contracts.Token, got {type(token)}"
    assert re.fullmatch(r"[\x21-\x7e]+", token.value), "a token consists of visible ASCII characters"
    assert token.expires_at > time.time() + 1, "the token has expired, or expires at once; give seconds since 1970"
    assert token.expires_at < time.time() + 10 * 366 * 86400, "give the expiry in seconds since 1970, not milliseconds"
    for name, value in token.extensions.items():
        assert re.fullmatch("[A-Za-z]+", name), f"extension {name!r}: names consist of letters"
        assert re.fullmatch(r"[\x21-\x7e \t\r\n]*", value), f"extension {name!r}: values are ASCII"
