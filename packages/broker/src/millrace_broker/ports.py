"""Finds free ports on the loopback address."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack

from millrace.errors import MachineError

# Below what Linux and macOS give to outgoing connections, so that a stopped broker finds its ports free again
_RANGE = range(15000, 32000)
# Not seeded by a test's random.seed: two test processes would want the same ports
_RANDOM = random.SystemRandom()
_ATTEMPTS = 200


def free_ports(count: int) -> list[int]:
    """Ports that nothing listens on at the moment.

    Args:
        count: How many different ones.

    Raises:
        MachineError: There are not enough.
    """
    ports: list[int] = []
    with ExitStack() as held:
        for port in _RANDOM.sample(_RANGE, _ATTEMPTS + count):
            if len(ports) == count:
                break
            if _take(held, port):
                ports.append(port)
    if len(ports) < count:
        raise MachineError(f"no {count} free ports on 127.0.0.1 between {_RANGE.start} and {_RANGE.stop - 1}")
    return ports


def is_free(port: int) -> bool:
    """Whether nothing listens on this port of 127.0.0.1."""
    with ExitStack() as held:
        return _take(held, port)


def _take(held: ExitStack, port: int) -> bool:
    candidate = held.enter_context(socket.socket())
    candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        candidate.bind(("127.0.0.1", port))
        candidate.listen(1)
    except OSError:
        return False
    return True
