from __future__ import annotations

from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from millrace.contracts import QueryReport
from millrace.contracts.metric_declarations import METRICS
from millrace.contracts.metrics import SinkMetrics
from millrace_ui.prometheus import Exposition, render
from support.query_reports import partition, report, source


def samples(*reports: QueryReport, exposition: Exposition | None = None) -> dict[tuple[str, ...], float]:
    text, _ = render(reports, exposition or Exposition())
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


def test_units_are_base_units() -> None:
    found = samples(report(3))
    assert found["millrace_source_lag_seconds", "0", "copy", "orders"] == 1.5
    assert found["millrace_micro_batch_duration_seconds", "triggerExecution", "copy"] == 0.1
    assert found["millrace_source_lag_records", "0", "copy", "orders"] == 3
    assert found["millrace_query_last_progress_timestamp_seconds", "copy"] == 1000


def test_all_that_is_shown_is_declared() -> None:
    sink = SinkMetrics(num_records_out=5, transactions_committed=2, current_send_time=40)
    whole = report(sources=(source(partition(0, 1, committed_offset=3, state_keys=4, state_bytes=5)),), sink=sink)
    assert {name for name, *_ in samples(whole)} == {metric.name for metric in METRICS}


def test_a_query_that_has_ended_is_down() -> None:
    assert samples(report(1, is_active=False))["millrace_query_up", "copy"] == 0


def test_transactions_are_told_apart_by_their_outcome() -> None:
    found = samples(report(sink=SinkMetrics(transactions_committed=3, transactions_skipped=1)))
    assert found["millrace_sink_transactions_total", "committed", "copy"] == 3
    assert found["millrace_sink_transactions_total", "skipped", "copy"] == 1


def test_many_partitions_are_added_up_by_topic() -> None:
    found = samples(report(3, 4, 5), exposition=Exposition(max_partitions=2))
    assert found["millrace_source_lag_records", "", "copy", "orders"] == 12
    assert found["millrace_source_lag_seconds", "", "copy", "orders"] == 1.5
    assert not [name for name, *_ in found if name.endswith("_offset")]


def test_the_lag_has_the_names_of_lag_exporters_on_request() -> None:
    assert not [name for name, *_ in samples(report(3)) if name.startswith("kafka_")]
    text, _ = render([report(3)], Exposition(with_lag_exporter_names=True))
    labels = 'cluster_name="kafka",group="copy",partition="0",topic="orders"'
    assert f"kafka_consumergroup_group_lag{{{labels}}} 3.0" in text.decode()
    assert 'kafka_consumergroup_lag{consumergroup="copy",partition="0",topic="orders"} 3.0' in text.decode()


def test_openmetrics_is_given_to_whom_asks_for_it() -> None:
    text, content_type = render([report(3)], Exposition(), "application/openmetrics-text; version=1.0.0")
    assert content_type.startswith("application/openmetrics-text")
    # The parser checks the whole format: units, kinds, order, the end
    families = [*openmetrics.text_string_to_metric_families(text.decode())]
    assert "millrace_source_records" in {family.name for family in families if family.type == "counter"}
