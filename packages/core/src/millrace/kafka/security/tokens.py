"""Tokens of a token provider for librdkafka's ``oauth_cb``: shared by the clients of a process, and renewed."""

from __future__ import annotations

import dataclasses
import logging
import re
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from millrace.contracts import Token, TokenProvider
from millrace.errors import ClientError, MillraceError
from millrace.options.secrets import without_values
from millrace.plugins.manager import PluginRef
from millrace.worker import RESOURCES, ResourceKind, WorkerResources

logger = logging.getLogger("millrace.kafka")

_MIN_LIFETIME_S = 1.0
"""Lifetime below which a token cannot be used: it would expire before the broker sees it."""

_TOKEN = re.compile(r"[\x21-\x7e]+")
_EXTENSION_NAME = re.compile("[A-Za-z]+")


class ProviderTokens:
    """The tokens of one provider for one cluster, each used until half of its lifetime has passed.

    librdkafka asks for another one after 80 % of the lifetime that a token had when it was given, so that a refresh
    gets a new token, while clients that are created at about the same time share one.

    Args:
        name: The provider's name, for errors.
        provider: The provider.
        bootstrap_servers: The cluster's brokers.
        now: Returns the time in seconds since 1970.
    """

    def __init__(
        self,
        name: str,
        provider: TokenProvider,
        bootstrap_servers: tuple[str, ...],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._name = name
        self._provider = provider
        self._bootstrap_servers = bootstrap_servers
        self._now = now
        self._lock = threading.Lock()
        self._token: Token | None = None
        self._renew_at = 0.0

    def current(self) -> Token:
        """Return the current token, or a new one once half of its lifetime has passed.

        While the provider fails, the current token is used until it expires.

        Raises:
            ClientError: The provider fails, and there is no token that is still valid.
            MillraceError: As `TokenProvider.token`.
        """
        with self._lock:
            if self._token is not None and self._now() < self._renew_at:
                return self._token
            try:
                token = self._new_token()
            except MillraceError as error:
                if self._token is None or self._token.expires_at - self._now() < _MIN_LIFETIME_S:
                    raise
                logger.warning("%s; the current token is used until it expires", error)
                return self._token
            self._renew_at = self._now() + (token.expires_at - self._now()) / 2
            self._token = token
            return token

    def _new_token(self) -> Token:
        try:
            token = self._provider.token(self._bootstrap_servers)
        except MillraceError:
            raise
        except Exception as error:
            # Without its cause, whose text may hold secrets
            text = _without_secrets(f"{type(error).__name__}: {error}", self._provider.options)
            raise ClientError(f"{self._subject} cannot get a token: {text}") from None
        problem = self._problem(token)
        if problem:
            raise ClientError(f"{self._subject} returned {problem}")
        return token

    @property
    def _subject(self) -> str:
        return f"token provider {self._name!r} (option 'properties.sasl.oauthbearer.provider')"

    def _problem(self, token: Token) -> str | None:
        if not isinstance(token, Token):
            return f"a {type(token).__name__}, not a millrace.contracts.Token"
        if not _TOKEN.fullmatch(token.value):
            return "a token that is empty or has other characters than visible ASCII"
        left_s = token.expires_at - self._now()
        if left_s < _MIN_LIFETIME_S:
            return f"a token that {'has expired' if left_s <= 0 else 'expires at once'}; compare the clocks"
        wrong = [name for name in token.extensions if not _EXTENSION_NAME.fullmatch(name)]
        return f"extension {wrong[0]!r}; names of extensions consist of letters" if wrong else None


def _without_secrets(text: str, options: Any) -> str:
    """Return an error's text without the values of secret options."""
    hidden = (getattr(options, field.name) for field in dataclasses.fields(options) if not field.repr)
    return without_values(text, (value for value in hidden if isinstance(value, str)))


class TokenCallback:
    """librdkafka's ``oauth_cb``, which one of its threads calls for the first token and whenever one is to be renewed.

    Args:
        tokens: The tokens.
        extensions: SASL extensions to send in addition to the token's.

    Attributes:
        failure: Why there is no token; empty after a success.
    """

    def __init__(self, tokens: ProviderTokens, extensions: Mapping[str, str]) -> None:
        self._tokens = tokens
        self._extensions = dict(extensions)
        self.failure = ""

    def __call__(self, config: object = None) -> tuple[str, float, str, dict[str, str]]:
        """Return the token, when it expires, its principal and the SASL extensions, as confluent-kafka expects them."""
        try:
            token = self.token()
        except MillraceError as error:
            self.failure = str(error)
            logger.warning(self.failure)
            raise
        self.failure = ""
        return token.value, token.expires_at, token.principal, {**token.extensions, **self._extensions}

    def token(self) -> Token:
        """Return the current token: see `ProviderTokens.current`."""
        return self._tokens.current()


TOKENS = ResourceKind[ProviderTokens]("token provider", capacity=4)


def token_callback(
    provider: PluginRef, bootstrap_servers: str, extensions: str, resources: WorkerResources = RESOURCES
) -> TokenCallback:
    """Return the ``oauth_cb`` of a client that is about to be created, once there is a token.

    A client without a token would wait for 10 seconds, and not say why.

    Args:
        provider: The token provider.
        bootstrap_servers: The client's ``bootstrap.servers``.
        extensions: The client's ``sasl.oauthbearer.extensions``, as ``name=value,name=value``.
        resources: Keeps the tokens.

    Raises:
        ClientError: There is no token.
        MillraceError: As `TokenProvider.token`.
    """
    servers = tuple(server.strip() for server in bootstrap_servers.split(",") if server.strip())
    tokens = resources.get(
        TOKENS, (provider, servers), lambda: ProviderTokens(provider.name, provider.create(), servers)
    )
    pairs = (pair.partition("=") for pair in extensions.split(",") if pair.strip())
    callback = TokenCallback(tokens, {name.strip(): value.strip() for name, _, value in pairs})
    callback.token()
    return callback
