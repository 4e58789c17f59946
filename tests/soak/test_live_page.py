"""A page that is open for a long time on a query of 1,000 partitions: memory, the first paint, updates."""

from __future__ import annotations

import gc
import os
import statistics
import time
import tracemalloc

import psutil
import pytest

import millrace
from millrace_ui.query_history import MAX_SAMPLES
from support.browser import LookedAt, chromium
from support.names import unique_name
from support.waiting import wait_until

SECONDS = float(os.environ.get("SOAK_SECONDS", "3600"))
PARTITIONS = 1_000
FIRST_PAINT_S = 1.0
UPDATE_MS = 100.0
GROWTH = 1.25
"""The growth that counts as flat, from the first fifth of the time to the last one; histories are full before it."""

_INTERVAL_MS = min(5_000, SECONDS * 100)

pytestmark = pytest.mark.timeout(SECONDS * 2 + 1_200)

_MEASURE = """() => {
  window.updates = [];
  const view = document.getElementById("view");
  const get = window.fetch;
  window.fetch = async (...asked) => {
    const answer = await get(...asked);
    const json = answer.json.bind(answer);
    answer.json = async () => {
      const content = await json();
      const received = performance.now();
      requestAnimationFrame(() => requestAnimationFrame(() => window.updates.push(performance.now() - received)));
      return content;
    };
    return answer;
  };
}"""


def test_an_open_page_stays_small_and_fast(spark, broker, tmp_path):
    topic = unique_name("wide")
    broker.create_topic(topic, PARTITIONS)
    options = {"properties.bootstrap.servers": broker.bootstrap_servers, "topic": topic}
    rows = spark.readStream.format("millrace").options(**options, **{"scan.startup.mode": "earliest-offset"}).load()
    with millrace.ui(spark, port=0) as page, chromium() as browser, _Producing(broker.bootstrap_servers, topic):
        query = rows.writeStream.queryName("wide").format("noop").option("checkpointLocation", str(tmp_path)).start()
        try:
            wait_until(lambda: query.lastProgress is not None, "the first micro-batch")
            figures = _watch(browser, page.url, query)
        finally:
            query.stop()
    print(figures)
    assert figures["first paint, s"] < FIRST_PAINT_S
    assert figures["median update, ms"] < UPDATE_MS
    assert figures["driver, growth"] < GROWTH
    assert figures["browser, growth"] < GROWTH


class _Producing:
    """Write to all partitions while a block runs."""

    def __init__(self, servers: str, topic: str) -> None:
        import threading

        from confluent_kafka import Producer

        self._producer = Producer({"bootstrap.servers": servers})
        self._topic = topic
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._producer.flush()

    def _run(self) -> None:
        while not self._ended.wait(0.5):
            for partition in range(0, PARTITIONS, 3):
                self._producer.produce(self._topic, b"row", partition=partition)
            self._producer.poll(0)


def _watch(browser, url: str, query) -> dict[str, float]:
    looked_at = LookedAt(browser, url)
    started = time.monotonic()
    looked_at.open(f"#/query/{query.id}", "Duration of micro-batches by phase")
    first_paint = time.monotonic() - started
    looked_at.page.evaluate(_MEASURE)
    # It slows the driver, so the first paint comes before it
    tracemalloc.start()
    try:
        _let_histories_fill(query, looked_at)
        driver, heap = _sizes(looked_at)
    finally:
        tracemalloc.stop()
    updates = looked_at.page.evaluate("window.updates")
    assert looked_at.problems == []
    return {
        "first paint, s": round(first_paint, 2),
        "updates": len(updates),
        "median update, ms": round(statistics.median(updates), 1),
        "slowest update, ms": round(max(updates), 1),
        "driver, MB": round(driver[-1] / 1e6, 2),
        "driver, growth": round(_growth(driver), 2),
        "browser, MB": round(heap[-1] / 1e6, 1),
        "browser, growth": round(_growth(heap), 2),
        "process, MB": round(psutil.Process().memory_info().rss / 1e6),
    }


def _let_histories_fill(query, looked_at: LookedAt) -> None:
    full_at = query.lastProgress["batchId"] + MAX_SAMPLES
    while query.lastProgress["batchId"] < full_at:
        looked_at.page.wait_for_timeout(_INTERVAL_MS)


def _sizes(looked_at: LookedAt) -> tuple[list[int], list[int]]:
    """Return the sizes of what the page has allocated in the driver, and of the browser's heap, over the time."""
    driver, heap = [], []
    ends_at = time.monotonic() + SECONDS
    while time.monotonic() < ends_at:
        looked_at.page.wait_for_timeout(_INTERVAL_MS)
        gc.collect()
        driver.append(sum(one.size for one in _of_page().statistics("filename")))
        heap.append(_heap_between_updates(looked_at))
    return driver, heap


def _heap_between_updates(looked_at: LookedAt) -> int:
    """Return the smallest of several sizes, since an update that is on its way is as large as a quarter of the rest."""
    sizes = []
    for _ in range(10):
        looked_at.page.request_gc()
        sizes.append(looked_at.page.evaluate("performance.memory.usedJSHeapSize"))
        looked_at.page.wait_for_timeout(_INTERVAL_MS / 50)
    return min(sizes)


def _of_page() -> tracemalloc.Snapshot:
    """Return what the page's own code has allocated, and the metrics that it keeps."""
    names = ("millrace_ui", "metrics.py")
    places = [tracemalloc.Filter(inclusive=True, filename_pattern=f"*{name}*") for name in names]
    return tracemalloc.take_snapshot().filter_traces(places)


def _growth(sizes: list[int]) -> float:
    """Return the growth from the first fifth of the time to the last one, each by its smallest size."""
    fifth = max(1, len(sizes) // 5)
    return min(sizes[-fifth:]) / max(1, min(sizes[:fifth]))
