"""The lag chart of notebooks: on a running query, and as a browser draws it."""

from __future__ import annotations

import json

import pytest

import millrace_ui
from millrace_ui.notebook import INTERVAL_S, LagChart
from support.browser import LookedAt, chromium
from support.kafka import produce
from support.query_reports import report
from support.waiting import wait_until

pytestmark = pytest.mark.timeout(600)

# What a notebook does for a widget: it loads the text as a module, and gives it a model and an element
NOTEBOOK = """async ([script, style, shown]) => {
  document.head.append(Object.assign(document.createElement("style"), { textContent: style }));
  const { default: widget } = await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  const listeners = new Set();
  const model = {
    get: () => shown,
    on: (name, listener) => listeners.add(listener),
    off: (name, listener) => listeners.delete(listener),
  };
  window.change = (content) => { shown = content; for (const listener of listeners) listener(); };
  window.leave = widget.render({ model, el: document.body.appendChild(document.createElement("main")) });
  window.listeners = listeners;
}"""


def test_it_follows_a_running_query(spark, connection, broker, make_topic, tmp_path):
    topic = make_topic(2)
    produce(broker.bootstrap_servers, topic, [{"value": b"v", "partition": number % 2} for number in range(6)])
    rows = spark.readStream.format("millrace").options(**connection, topic=topic)
    rows = rows.options(**{"scan.startup.mode": "earliest-offset", "scan.max-records-per-batch": "4"}).load()
    writer = rows.writeStream.queryName(topic).format("noop").option("checkpointLocation", str(tmp_path))
    query = writer.start()
    try:
        query.processAllAvailable()
        chart = millrace_ui.lag_chart(query, spark)
        # Spark remembers what was before the chart
        assert [lag for _, lag in chart.shown["trend"]] == [2, 0]
        produce(broker.bootstrap_servers, topic, [{"value": b"v", "partition": 1}] * 3)
        query.processAllAvailable()
        wait_until(lambda: len(chart.shown["trend"]) == 3, "the report of the next micro-batch")
        assert chart.shown["name"] == topic
    finally:
        query.stop()
    wait_until(lambda: chart.shown["state"] == "stopped", "the report of the query's end")
    chart.close()


def test_a_browser_draws_it_anew_with_each_report():
    chart = LagChart("id-1", "copy", [report(3, 4, time=1000.0), report(1, 2, batch=1, time=1010.0)])
    with chromium() as browser:
        looked_at = _draw(browser, chart)
        assert _text(looked_at).startswith("copy running Lag 3 ")
        assert looked_at.page.locator("svg.chart path.line").count() == 2
        chart.add(report(0, 0, batch=2, time=1020.0, is_active=False, error="the topic is gone"))
        wait_until(lambda: chart.shown["state"] == "failed", "the next drawing", interval_s=INTERVAL_S)
        looked_at.page.evaluate("content => change(content)", _sent(chart))
        assert _text(looked_at).startswith("copy failed Lag 0 ")
        assert "the topic is gone" in _text(looked_at)
        assert (looked_at.serious_faults(), looked_at.problems) == ([], [])
        looked_at.page.evaluate("leave()")
        assert looked_at.page.evaluate("listeners.size") == 0
    chart.close()


def _draw(browser, chart: LagChart) -> LookedAt:
    looked_at = LookedAt(browser, "about:blank")
    looked_at.page.set_content("<!doctype html><html lang=en><title>notebook</title><body></body></html>")
    looked_at.page.evaluate(NOTEBOOK, [chart._esm, chart._css, _sent(chart)])
    return looked_at


def _sent(chart: LagChart) -> object:
    """Return what a notebook gets: values of JSON."""
    return json.loads(json.dumps(chart.shown))


def _text(looked_at: LookedAt) -> str:
    return " ".join(" ".join(looked_at.page.locator("main p").all_inner_texts()).split())
