"""The addresses that a broker listens on."""

from __future__ import annotations

import dataclasses
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field

from millrace.errors import OptionsError

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


@dataclass(frozen=True)
class Listener:
    """One address of a broker, with its own security.

    Args:
        name: Kafka's name for it, of letters, digits and ``_``; not ``CONTROLLER``.
        protocol: ``PLAINTEXT``, ``SSL``, ``SASL_PLAINTEXT`` or ``SASL_SSL``.
        host: A name or address of this machine's loopback, which clients are told to connect to.
        port: 0 for a free one.
        config: Broker properties that hold for this listener alone, without the prefix ``listener.name.<name>.``,
            such as ``{"ssl.keystore.location": "/tmp/server.jks"}``.

    Raises:
        OptionsError: The name, protocol, host or port is none of these.
    """

    name: str
    protocol: str = "PLAINTEXT"
    host: str = "127.0.0.1"
    port: int = 0
    config: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        problems = tuple(self._problems())
        if problems:
            raise OptionsError(f"listener {self.name!r}", problems)

    @property
    def address(self) -> str:
        """What a client connects to, ``host:port``."""
        return f"{self.host}:{self.port}"

    def on(self, port: int) -> Listener:
        """The same listener on another port."""
        return dataclasses.replace(self, port=port)

    def _problems(self) -> list[str]:
        problems = []
        if not self.name.replace("_", "").isalnum() or self.name.upper() == "CONTROLLER":
            problems.append("the name must be of letters, digits and '_', and not CONTROLLER")
        if self.protocol not in PROTOCOLS:
            problems.append(f"protocol {self.protocol!r} is none of {', '.join(PROTOCOLS)}")
        if not _is_loopback(self.host):
            problems.append(f"host {self.host!r} is not of this machine's loopback, such as 127.0.0.1 or localhost")
        if not 0 <= self.port < 65536:
            problems.append(f"port {self.port} is not between 0 and 65535")
        return problems


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
