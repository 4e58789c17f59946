"""A broker that clients reach through a proxy, which counts their requests and what they get."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bench.delayed_proxy import DelayedProxy

from millrace_broker import KafkaBroker, Listener
from millrace_broker.listeners import free_ports


@contextmanager
def far_broker() -> Iterator[tuple[KafkaBroker, DelayedProxy]]:
    """A broker, and the proxy by which clients reach its second listener."""
    near_port, far_port, proxy_port = free_ports(3)
    near, far = Listener("PLAINTEXT", port=near_port), Listener("FAR", port=far_port)
    advertised = f"PLAINTEXT://{near.address},FAR://{far.with_port(proxy_port).address}"
    broker = KafkaBroker(properties={"advertised.listeners": advertised}, listeners=[near, far])
    with broker, DelayedProxy(proxy_port, far_port) as proxy:
        yield broker, proxy
