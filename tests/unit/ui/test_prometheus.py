from __future__ import annotations

from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from millrace.contracts import QueryReport
from millrace.contracts.metric_declarations import METRICS
from millrace.contracts.metrics import SinkMetrics
from millrace_ui.prometheus import Exposition, render
from support.query_reports import report, whole_report


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
    shown = samples(whole_report(), exposition=Exposition(with_clients=True))
    assert {name for name, *_ in shown} == {metric.name for metric in METRICS}


def test_tables_of_pipelines_and_kafka_clients_are_told_apart() -> None:
    shown = samples(whole_report(), exposition=Exposition(with_clients=True))
    assert shown["millrace_pipeline_changes_total", "copy", "shop.customers"] == 8
    assert shown["millrace_pipeline_lag_seconds", "copy", "shop.customers"] == 2.5
    assert shown["millrace_pipeline_table_paused", "copy", "shop.customers"] == 1
    assert shown["millrace_client_request_latency_avg_seconds", "consumer-1", "copy"] == 0.006
    assert shown["millrace_client_outgoing_byte_total", "consumer-1", "copy"] == 6
    assert not [name for name, *_ in samples(whole_report()) if name.startswith("millrace_client_")]


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
