"""The live page of a session with a running query."""

from __future__ import annotations

import json
import urllib.request

import millrace
import millrace_ui
from support.kafka import produce
from support.waiting import wait_until


def test_a_running_query_is_on_the_page_and_in_its_metrics(spark, connection, broker, make_topic, tmp_path):
    topic = make_topic(2)
    produce(broker.bootstrap_servers, topic, [{"value": b"12345", "partition": 1}] * 5)
    with millrace.ui(spark, port=0) as page:
        rows = spark.readStream.format("millrace").options(**connection, topic=topic)
        rows = rows.option("scan.startup.mode", "earliest-offset").load()
        query = rows.writeStream.queryName(topic).format("noop").option("checkpointLocation", str(tmp_path)).start()
        try:
            query.processAllAvailable()
            wait_until(lambda: _query(page.url, str(query.id))["samples"], "the query's first micro-batch")
            shown = _query(page.url, str(query.id))
            assert (shown["name"], shown["state"], shown["lag"], shown["topics"]) == (topic, "running", 0, [topic])
            assert sum(sample["rows"] for sample in shown["samples"]) == 5
            offset = f'millrace_source_offset{{partition="1",query="{topic}",topic="{topic}"}} 5.0'
            assert offset in _get(f"{page.url}metrics")
        finally:
            query.stop()
        wait_until(lambda: f'millrace_query_up{{query="{topic}"}} 0.0' in _get(f"{page.url}metrics"), "the query's end")


def test_pages_reporters_and_charts_share_one_listener(spark, connection, broker, make_topic, tmp_path):
    topic = make_topic(1)
    produce(broker.bootstrap_servers, topic, [{"value": b"v"}] * 3)
    before = _listeners(spark)
    rows = spark.readStream.format("millrace").options(**connection, topic=topic)
    rows = rows.option("scan.startup.mode", "earliest-offset").load()
    with millrace.ui(spark, port=0) as page, millrace.report_metrics(spark, options={"port": "0"}) as reports:
        query = rows.writeStream.queryName(topic).format("noop").option("checkpointLocation", str(tmp_path)).start()
        # Another object of Python for the same session of Java
        chart = millrace_ui.lag_chart(query, spark)
        try:
            assert _listeners(spark) == before + 1
            query.processAllAvailable()
            lag = f'millrace_source_lag_records{{partition="0",query="{topic}",topic="{topic}"}} 0.0'
            for url in (f"{page.url}metrics", reports.reporter.url):
                wait_until(lambda url=url: lag in _get(url), "the query's first micro-batch")
            wait_until(lambda: chart.shown["trend"], "the chart's first micro-batch")
        finally:
            query.stop()
            chart.close()
        assert _listeners(spark) == before + 1
    assert _listeners(spark) == before


def _listeners(spark) -> int:
    return len(spark._jsparkSession.streams().listListeners())


def _get(url: str) -> str:
    text: str = urllib.request.urlopen(url, timeout=20).read().decode()
    return text


def _query(url: str, query: str):
    known = {one["id"] for one in json.loads(_get(f"{url}api/queries"))}
    return json.loads(_get(f"{url}api/queries/{query}")) if query in known else {"samples": []}
