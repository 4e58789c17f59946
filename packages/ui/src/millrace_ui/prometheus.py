"""Render the metrics of queries as Prometheus reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

import millrace
from millrace.contracts import QueryReport
from millrace.contracts.metric_declarations import (
    BUILD_INFO,
    METRICS,
    MetricKind,
    Value,
)
from millrace.contracts.metric_declarations import Metric as Declaration
from millrace_ui.shown_values import shown_values

LAG_EXPORTER_NAMES = ("kafka_consumergroup_group_lag", "kafka_consumergroup_lag")
"""The names that exporters of consumer groups give to a partition's lag: kafka-lag-exporter, and kafka_exporter."""

# Dashboards of kafka-lag-exporter choose a cluster first; its other labels are those of a group's members
_LAG_EXPORTER_LABELS = {
    "kafka_consumergroup_group_lag": ("cluster_name", "group", "topic", "partition"),
    "kafka_consumergroup_lag": ("consumergroup", "topic", "partition"),
}


@dataclass(frozen=True)
class Exposition:
    """Choice of the metrics that are shown.

    Attributes:
        max_partitions: The number of a query's partitions above which they are added up: a label each would cost more
            than it tells.
        with_lag_exporter_names: Whether the lag is shown under the names of consumer group exporters, too, with the
            query as the group.
        cluster_name: The name of the cluster, which one of these has as a label.
        with_clients: Whether the metrics of Kafka's clients are shown.
    """

    max_partitions: int = 200
    with_lag_exporter_names: bool = False
    cluster_name: str = "kafka"
    with_clients: bool = False


def render(reports: Iterable[QueryReport], exposition: Exposition, accepts: str = "") -> tuple[bytes, str]:
    """Render the last report of each query.

    Args:
        reports: The reports.
        exposition: The choice of what is shown.
        accepts: The header ``Accept`` of the request.

    Returns:
        The text, and its content type.
    """
    registry = CollectorRegistry()
    registry.register(_Reports(list(reports), exposition))
    encoder, content_type = choose_encoder(accepts)
    return encoder(registry), content_type


class _Reports(Collector):
    def __init__(self, reports: list[QueryReport], exposition: Exposition) -> None:
        self._reports = reports
        self._exposition = exposition

    def collect(self) -> Iterator[Metric]:
        families = {metric.name: _family(metric) for metric in METRICS}
        families[BUILD_INFO.name].add_metric([millrace.__version__], 1)
        lags: list[Value] = []
        for report in self._reports:
            values = shown_values(report, self._exposition.max_partitions, with_clients=self._exposition.with_clients)
            for value in values:
                families[value.metric.name].add_metric(value.labels, value.value)
                if value.metric.source == "pending_records":
                    lags.append(value)
        yield from families.values()
        if self._exposition.with_lag_exporter_names:
            yield from self._lag_exporter_families(lags)

    def _lag_exporter_families(self, lags: list[Value]) -> Iterator[Metric]:
        for name, labels in _LAG_EXPORTER_LABELS.items():
            cluster = [self._exposition.cluster_name] if "cluster_name" in labels else []
            sentence = "Lag of a query, under the name that exporters of groups use."
            family = GaugeMetricFamily(name, sentence, labels=labels)
            for value in lags:
                family.add_metric([*cluster, *value.labels], value.value)
            yield family


def _family(metric: Declaration) -> CounterMetricFamily | GaugeMetricFamily:
    if metric.kind == MetricKind.COUNTER:
        return CounterMetricFamily(metric.name.removesuffix("_total"), metric.help, labels=metric.labels)
    return GaugeMetricFamily(metric.name, metric.help, labels=metric.labels)
