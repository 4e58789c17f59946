"""Token providers: get the tokens that a Kafka client logs in with by SASL/OAUTHBEARER (KIP-255)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from millrace.contracts.plugin import Plugin


@dataclass(frozen=True)
class Token:
    """A bearer token; its ``repr`` shows neither the token nor the extensions.

    Attributes:
        value: The token: visible ASCII characters, mostly a JWT.
        expires_at: When it expires, in seconds since 1970 (UTC).
        principal: The name that it was issued to, for the client's log; empty if unknown.
        extensions: SASL extensions to send beside it; their names consist of letters.
    """

    value: str = field(repr=False)
    expires_at: float
    principal: str = ""
    extensions: Mapping[str, str] = field(default_factory=dict, repr=False)


class TokenProvider(Plugin, ABC):
    """Gets tokens. ``properties.sasl.oauthbearer.provider`` names the plugin.

    Created once in each process that connects to Kafka: the driver and the executors' workers. Its options must be
    hashable.
    """

    @abstractmethod
    def token(self, bootstrap_servers: Sequence[str]) -> Token:
        """Get a new token that has not expired.

        Called before a process creates its first client, and again after half of the token's lifetime, by one thread at
        a time. All clients of a process share the token.

        Args:
            bootstrap_servers: The brokers to log in to, as ``host:port``.

        Raises:
            OptionsError: An option is missing or invalid.
            MachineError: A library is not installed.
            Exception: No token could be obtained. The user sees the message, without the values of secret options.
        """
