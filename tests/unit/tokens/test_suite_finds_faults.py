"""The conformance suite fails for token providers that break the contract."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from millrace.contracts import Token, TokenProvider
from millrace.options import option
from millrace.testing import TokenProviderSuite


@dataclass(frozen=True)
class SecretOptions:
    login: str = option("login", default="hush", doc="A secret whose name does not say so.")


def suite_of(make_token: Callable[[], object], options: type | None = None) -> TokenProviderSuite:
    class Faulty(TokenProvider):
        Options = options or TokenProvider.Options

        def token(self, bootstrap_servers: Sequence[str]) -> Token:
            return make_token()

    class Suite(TokenProviderSuite):
        def make_provider(self) -> TokenProvider:
            return Faulty()

        def secrets(self) -> list[str]:
            return ["hush"]

    return Suite()


def test_a_correct_provider_passes() -> None:
    suite = suite_of(lambda: Token("e30.e30.", time.time() + 60, "alice", {"pool": "p"}))
    for name in dir(suite):
        if name.startswith("test_"):
            getattr(suite, name)()


@pytest.mark.parametrize(
    "make_token",
    [
        lambda: "t",
        lambda: Token("", time.time() + 60),
        lambda: Token("with space", time.time() + 60),
        lambda: Token("t", time.time()),
        lambda: Token("t", (time.time() + 60) * 1000),
        lambda: Token("t", time.time() + 60, extensions={"pool-id": "p"}),
    ],
)
def test_a_wrong_token_is_found(make_token: Callable[[], object]) -> None:
    with pytest.raises(AssertionError):
        suite_of(make_token).test_token_is_one()


def test_an_older_token_is_found() -> None:
    expiries = iter([time.time() + 600, time.time() + 60])
    with pytest.raises(AssertionError):
        suite_of(lambda: Token("t", next(expiries))).test_another_token_is_not_older()


def test_a_shown_secret_is_found() -> None:
    with pytest.raises(AssertionError):
        suite_of(lambda: Token("t", time.time() + 60), SecretOptions).test_options_show_no_secret()
