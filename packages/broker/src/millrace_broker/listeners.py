"""The addresses that a broker listens on, and free ports for them."""

from __future__ import annotations

import dataclasses
import ipaddress
import random
import socket
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field

from millrace.errors import MachineError, OptionsError

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")

# Below the ephemeral ports of Linux and macOS, so that a restarted broker finds its ports free again
_PORT_RANGE = range(15000, 32000)
# Unaffected by random.seed in a test: two test processes would choose the same ports
_RANDOM = random.SystemRandom()
_MAX_PORTS_TRIED = 200


@dataclass(frozen=True)
class Listener:
    """One address of a broker, with its own security.

    Args:
        name: Kafka's name for it, made of letters, digits and ``_``; not ``CONTROLLER``.
        protocol: ``PLAINTEXT``, ``SSL``, ``SASL_PLAINTEXT`` or ``SASL_SSL``.
        host: A loopback name or address of this machine, which is advertised to clients.
        port: The port; 0 for any free one.
        config: Broker properties of this listener alone, without the prefix ``listener.name.<name>.``, such as
            ``{"ssl.keystore.location": "/tmp/server.jks"}``.

    Raises:
        OptionsError: The name, protocol, host or port is invalid.
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
        """The address for clients, ``host:port``."""
        return f"{self.host}:{self.port}"

    def with_port(self, port: int) -> Listener:
        """Return this listener on another port."""
        return dataclasses.replace(self, port=port)

    def _problems(self) -> list[str]:
        problems = []
        if not self.name.replace("_", "").isalnum() or self.name.upper() == "CONTROLLER":
            problems.append("the name must consist of letters, digits and '_', and must not be CONTROLLER")
        if self.protocol not in PROTOCOLS:
            problems.append(f"protocol {self.protocol!r} is not one of {', '.join(PROTOCOLS)}")
        if not _is_loopback(self.host):
            problems.append(f"host {self.host!r} is not a loopback address, such as 127.0.0.1 or localhost")
        if not 0 <= self.port < 65536:
            problems.append(f"port {self.port} is not between 0 and 65535")
        return problems


def free_ports(count: int, besides: Collection[int] = ()) -> list[int]:
    """Choose ports of 127.0.0.1 that nothing listens on at the moment.

    Args:
        count: Number of different ports.
        besides: Ports that are not chosen, though nothing may listen on them yet.

    Raises:
        MachineError: There are not enough.
    """
    ports: list[int] = []
    # All candidates stay bound until the choice is complete, so that none is chosen twice
    with ExitStack() as sockets:
        for port in _RANDOM.sample(_PORT_RANGE, _MAX_PORTS_TRIED + count):
            if len(ports) == count:
                break
            if port not in besides and _bind(sockets, port):
                ports.append(port)
    if len(ports) < count:
        raise MachineError(
            f"127.0.0.1 has no {count} free ports between {_PORT_RANGE.start} and {_PORT_RANGE.stop - 1}; "
            "stop programs that listen there"
        )
    return ports


def is_free(port: int) -> bool:
    """Tell whether nothing listens on this port of 127.0.0.1."""
    with ExitStack() as sockets:
        return _bind(sockets, port)


def _bind(sockets: ExitStack, port: int) -> bool:
    candidate = sockets.enter_context(socket.socket())
    candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        candidate.bind(("127.0.0.1", port))
        candidate.listen(1)
    except OSError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
