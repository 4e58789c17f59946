"""A broker that is near and some milliseconds away at once."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from bench.cpu import cpu_seconds_of
from bench.delayed_proxy import DelayedProxy
from bench.measure import Bench, Run, Series, alternate, records_per_second
from millrace_broker import KafkaBroker, Listener
from millrace_broker.listeners import free_ports

DISTANCES_MS = (0, 1, 10)
"""Round trips, in ms. Those of 0 pass the proxy, too."""

TUNED = {"batch.size": "1000000", "linger.ms": "5", "compression.type": "lz4"}
"""Properties with which Spark's own sink writes most: those that millrace's has by default."""

PROCESSOR_TIME = "processor s per million"

_MILLION = 1_000_000


@contextmanager
def start_broker(properties: Mapping[str, str], tls: Listener) -> Iterator[tuple[KafkaBroker, DelayedProxy]]:
    """Run a broker with a listener without security, one with TLS, and one that clients reach through a proxy."""
    near_port, tls_port, far_port, proxy_port = free_ports(4)
    near, far = Listener("PLAINTEXT", port=near_port), Listener("FAR", port=far_port)
    secured = tls.with_port(tls_port)
    advertised = [f"{listener.name}://{listener.address}" for listener in (near, secured, far.with_port(proxy_port))]
    broker = KafkaBroker(
        heap="768m",
        properties={**properties, "advertised.listeners": ",".join(advertised)},
        listeners=[near, secured, far],
    )
    with broker, DelayedProxy(proxy_port, far_port) as proxy:
        yield broker, proxy


def alternate_at_distances(
    bench: Bench, work: str, contestants: Mapping[str, Callable[[Bench], Run]]
) -> dict[int, dict[str, Series]]:
    """Run contestants in turn, each at every distance, so that distances can be compared, too.

    Args:
        bench: Says how often, and at which distances of the broker.
        work: What is measured, for the progress lines.
        contestants: What to run, by name, with a bench whose broker is far away.

    Returns:
        The figures of the contestants, by their names, for each distance in ms.
    """
    far = dataclasses.replace(bench, servers=bench.far.servers)

    def run(distance_ms: int, contestant: Callable[[Bench], Run]) -> Run:
        bench.far.set_round_trip(distance_ms)
        return contestant(far)

    labels = {(distance, name): f"{away(distance)}, {name}" for distance in bench.distances_ms for name in contestants}
    turns = {label: functools.partial(run, turn[0], contestants[turn[1]]) for turn, label in labels.items()}
    series = alternate(bench, work, turns)
    return {distance: {name: series[labels[distance, name]] for name in contestants} for distance in bench.distances_ms}


def away(distance_ms: int) -> str:
    """Return words for a distance."""
    return f"{distance_ms} ms away"


def measured_rate(records: int, work: Callable[[], Any]) -> Run:
    """Run work, and return its rate, with the processor time of Spark that it takes."""
    rates: list[float] = []
    # The last one counts: work that is measured anew runs again
    cpu_s = cpu_seconds_of(lambda: rates.append(records_per_second(records, work)))
    return Run(rates[-1], {PROCESSOR_TIME: cpu_s / records * _MILLION})
