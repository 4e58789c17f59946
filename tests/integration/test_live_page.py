"""The live page of a session with a running query."""

from __future__ import annotations

import json
import urllib.request

import millrace
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


def _get(url: str) -> str:
    text: str = urllib.request.urlopen(url, timeout=20).read().decode()
    return text


def _query(url: str, query: str):
    known = {one["id"] for one in json.loads(_get(f"{url}api/queries"))}
    return json.loads(_get(f"{url}api/queries/{query}")) if query in known else {"samples": []}
