"""A real HTTP endpoint gets the events of OpenLineage's client."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from uuid import uuid4

import pytest

from millrace.api.query_lineage import Dataset, LineageColumn, QueryLineage, describe_query, kafka_dataset
from millrace.contracts import MetricsReporter
from millrace.contracts.datasets import TopicDataset
from millrace.plugins import METRICS_REPORTER, plugin_manager
from millrace.testing import MetricsReporterSuite
from millrace_ui.openlineage_reporter import OpenLineageOptions, OpenLineageReporter
from support.lineage_endpoint import LineageEndpoint
from support.lineage_schemas import check_by_schema
from support.query_reports import report

ORDERS = TopicDataset("broker-1:9092,broker-2:9092", "orders", {"id": "bigint", "at": "timestamp"})
COPIED = TopicDataset("broker-1:9092", "copied", {"id": "bigint"})


@pytest.fixture
def endpoint() -> Iterator[LineageEndpoint]:
    with LineageEndpoint() as opened:
        yield opened


@pytest.fixture
def reporter(endpoint: LineageEndpoint) -> OpenLineageReporter:
    opened = OpenLineageReporter(OpenLineageOptions(endpoint.url, "shop"))
    opened.open()
    return opened


class TestOpenLineage(MetricsReporterSuite):
    @pytest.fixture(autouse=True)
    def _listen(self, endpoint: LineageEndpoint) -> None:
        self.url = endpoint.url

    def make_reporter(self) -> MetricsReporter:
        return OpenLineageReporter(OpenLineageOptions(getattr(self, "url", "http://127.0.0.1:9")))


def run_of(reporter: OpenLineageReporter, error: str | None = None) -> str:
    """Report a query that starts, runs three micro-batches and ends."""
    run = str(uuid4())
    started = report(batch=None, run_id=run)
    ran = report(0, run_id=run, inputs=(ORDERS,), outputs=(COPIED,))
    for one in (
        started,
        ran,
        dataclasses.replace(ran, batch_id=1, time=1010.0),
        dataclasses.replace(ran, batch_id=2, time=1061.0),
        dataclasses.replace(ran, is_active=False, error=error, has_run=False, time=1062.0),
    ):
        reporter.report(one)
    reporter.close()
    return run


def test_it_is_found_by_its_name() -> None:
    assert plugin_manager().load(METRICS_REPORTER, "openlineage") is OpenLineageReporter


def test_a_query_starts_runs_and_completes(endpoint: LineageEndpoint, reporter: OpenLineageReporter) -> None:
    run = run_of(reporter)
    events = endpoint.events
    assert [event["eventType"] for event in events] == ["START", "RUNNING", "RUNNING", "COMPLETE"]
    assert {(event["run"]["runId"], event["job"]["namespace"], event["job"]["name"]) for event in events} == {
        (run, "shop", "copy")
    }
    last = events[-1]
    (read,), (written,) = last["inputs"], last["outputs"]
    assert (read["namespace"], read["name"]) == ("kafka://broker-1:9092", "orders")
    fields = [(field["name"], field["type"]) for field in read["facets"]["schema"]["fields"]]
    assert fields == [("id", "bigint"), ("at", "timestamp")]
    assert (written["namespace"], written["name"]) == ("kafka://broker-1:9092", "copied")
    check_by_schema(events)


def test_a_query_that_fails_says_why(endpoint: LineageEndpoint, reporter: OpenLineageReporter) -> None:
    run_of(reporter, "topic 'orders' does not exist")
    failed = endpoint.events[-1]
    assert failed["eventType"] == "FAIL"
    assert failed["run"]["facets"]["errorMessage"]["message"] == "topic 'orders' does not exist"
    check_by_schema(endpoint.events)


def test_a_statement_has_its_text_and_the_lineage_of_its_columns(
    endpoint: LineageEndpoint, reporter: OpenLineageReporter
) -> None:
    run = str(uuid4())
    orders = kafka_dataset(ORDERS.servers, "orders")
    lineage = QueryLineage(
        "SQL",
        "INSERT INTO t SELECT id FROM o",
        lambda: [Dataset("file", "/t")],
        lambda: {"id": [LineageColumn(orders, "id")]},
    )
    describe_query("described", lineage)
    reporter.report(report(0, query="described", run_id=run, inputs=(ORDERS,)))
    reporter.close()
    (event,) = endpoint.events
    assert event["job"]["facets"]["sql"]["query"] == "INSERT INTO t SELECT id FROM o"
    assert event["job"]["facets"]["jobType"]["jobType"] == "SQL"
    (written,) = event["outputs"]
    (read,) = written["facets"]["columnLineage"]["fields"]["id"]["inputFields"]
    assert (written["name"], read["namespace"], read["name"], read["field"]) == ("/t", *orders, "id")
    check_by_schema(endpoint.events)


def test_a_query_goes_on_where_nobody_listens(caplog: pytest.LogCaptureFixture) -> None:
    reporter = OpenLineageReporter(OpenLineageOptions("http://127.0.0.1:9"))
    reporter.open()
    reporter.report(report(batch=None, run_id="not a run's id"))
    reporter.close()
    (record,) = [one for one in caplog.records if one.name == "millrace.lineage"]
    assert record.getMessage().startswith("events of lineage are lost")


@pytest.mark.parametrize(
    ("servers", "namespace"),
    [
        ("a:9092,b:9093", "kafka://a:9092"),
        ("SASL_SSL://a:9094", "kafka://a:9094"),
        ("a", "kafka://a:9092"),
        ("[::1]:9095", "kafka://[::1]:9095"),
    ],
)
def test_a_cluster_is_named_by_its_first_server(servers: str, namespace: str) -> None:
    assert kafka_dataset(servers, "orders") == (namespace, "orders")
