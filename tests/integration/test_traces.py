"""Traces of messages: columns, headers of writes, and links of a micro-batch's span, by OpenTelemetry's SDK."""

from __future__ import annotations

import pytest

import millrace
from support.kafka import consume, produce
from support.spans import exported_spans
from support.waiting import wait_until


@pytest.fixture(scope="module")
def spans():
    return exported_spans()


def _traced(span: int, flags: int):
    return {"value": b"{}", "headers": [("traceparent", f"00-{7:032x}-{span:016x}-{flags:02x}".encode())]}


def test_a_micro_batch_links_to_sampled_messages_and_passes_traces_on(
    spans, spark, connection, broker, make_topic, tmp_path
):
    source, target = make_topic(2), make_topic(1)
    produce(broker.bootstrap_servers, source, [_traced(1, 1), _traced(2, 0), _traced(3, 1), {"value": b"{}"}])
    with millrace.report_metrics(spark, "opentelemetry", {"max-links": "50"}):
        rows = (
            spark.readStream.format("millrace")
            .options(**connection, topic=source, format="json")
            .option("metadata.columns", "traceparent")
            .option("scan.startup.mode", "earliest-offset")
            .schema("id BIGINT, traceparent STRING")
            .load()
        )
        writer = rows.writeStream.format("millrace").queryName(source).trigger(availableNow=True)
        writer = writer.options(**connection, topic=target, format="json").option("metadata.columns", "traceparent")
        query = writer.option("checkpointLocation", str(tmp_path)).start()
        query.awaitTermination()
        wait_until(lambda: _micro_batches(spans, source), "the span of the micro-batch")
    (span,) = _micro_batches(spans, source)
    assert {(link.context.trace_id, link.context.span_id) for link in span.links} == {(7, 1), (7, 3)}
    assert sorted(message.headers() or [] for message in consume(broker.bootstrap_servers, target)) == [
        [],
        *(traced["headers"] for traced in (_traced(1, 1), _traced(2, 0), _traced(3, 1))),
    ]


def _micro_batches(spans, query):
    return [span for span in spans.get_finished_spans() if span.name == f"micro-batch {query}"]
