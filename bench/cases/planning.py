"""Time that the driver takes to plan a batch of a topic with many partitions."""

from __future__ import annotations

import time

from bench.measure import Bench, Result, Series
from millrace.configuration.build import configure_source
from millrace.source.enumerator.planner import Planner

PARTITIONS = 1_000
LIMIT_MS = 1_000


def run(bench: Bench) -> list[Result]:
    """Measure planning from nothing to the splits, with a new client and its connections."""
    work = f"planning {PARTITIONS:,} partitions"
    with bench.topics.empty(PARTITIONS) as topic:
        config = configure_source({"properties.bootstrap.servers": bench.servers, "topic": topic})
        took = [_plan_ms(config, work) for _ in range(bench.warm_ups + bench.runs)][bench.warm_ups :]
    return [Result(work, "ms", Series(tuple(took)), None, target=LIMIT_MS, at_most=True)]


def _plan_ms(config: object, work: str) -> float:
    started = time.perf_counter()
    planner = Planner.connect(config)
    planner.batch_splits()
    took = (time.perf_counter() - started) * 1000
    print(f"  {work}: {took:.0f} ms", flush=True)
    return took
