"""The declared metrics as instruments of OpenTelemetry, which the user's SDK reads when it exports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from opentelemetry.metrics import CallbackOptions, MeterProvider, Observation

import millrace
from millrace.contracts.metric_declarations import BUILD_INFO, METRICS, Metric, MetricKind, Value
from millrace_ui.query_history import Histories
from millrace_ui.shown_values import shown_values

_UNITS = {"seconds": "s", "bytes": "By", "records": "{record}", "": "1"}


class Observed:
    """The queries that one reporter exports.

    Args:
        histories: Their last reports.
        max_partitions: The number of a query's partitions above which they are added up by topic.
        with_clients: Whether the metrics of Kafka's clients are exported.
    """

    def __init__(self, histories: Histories, max_partitions: int, *, with_clients: bool = False) -> None:
        self._histories = histories
        self._max_partitions = max_partitions
        self._with_clients = with_clients
        self._version = -1
        self._by_metric: dict[str, list[Observation]] = {}

    def observations(self, metric: Metric) -> Sequence[Observation]:
        """Return the values of a metric. They are computed once for all metrics."""
        version = self._histories.version
        if version != self._version:
            self._by_metric = self._observe()
            self._version = version
        return self._by_metric.get(metric.name, ())

    def _observe(self) -> dict[str, list[Observation]]:
        by_metric: dict[str, list[Observation]] = defaultdict(list)
        by_metric[BUILD_INFO.name].append(_observation(Value(BUILD_INFO, (millrace.__version__,), 1)))
        for report in self._histories.reports():
            for value in shown_values(report, self._max_partitions, with_clients=self._with_clients):
                by_metric[value.metric.name].append(_observation(value))
        return by_metric


OBSERVED: list[Observed] = []
"""The exported queries. Instruments cannot be taken back: all reporters of a process share one for each metric."""

_providers: list[MeterProvider] = []


def create_instruments(provider: MeterProvider) -> None:
    """Create an instrument for each declared metric, once for each provider."""
    if any(known is provider for known in _providers):
        return
    _providers.append(provider)
    meter = provider.get_meter("millrace", millrace.__version__)
    for metric in METRICS:
        create = meter.create_observable_counter if metric.kind == MetricKind.COUNTER else meter.create_observable_gauge
        create(metric.name, [_callback(metric)], _UNITS[metric.unit], metric.help)


def _callback(metric: Metric) -> Callable[[CallbackOptions], Iterable[Observation]]:
    def observe(_options: CallbackOptions) -> Iterable[Observation]:
        return [observation for observed in list(OBSERVED) for observation in observed.observations(metric)]

    return observe


def _observation(value: Value) -> Observation:
    return Observation(value.value, dict(zip(value.metric.labels, value.labels, strict=True)))
