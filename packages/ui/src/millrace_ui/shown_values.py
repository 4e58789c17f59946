"""The values of a query's metrics that exporters show: where it has many partitions, they are added up.

Kafka's clients are shown on request: each has labels of its own, and they come and go with workers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from millrace.contracts import QueryReport
from millrace.contracts.metric_declarations import CLIENT_METRICS, PARTITION_METRICS, Metric, Value, values_of

_PARTITION_NAMES = {metric.name for metric in PARTITION_METRICS}
_CLIENT_NAMES = {metric.name for metric in CLIENT_METRICS}


def shown_values(report: QueryReport, max_partitions: int, *, with_clients: bool = False) -> Iterable[Value]:
    """Yield the values of a query's metrics.

    Args:
        report: Its last report.
        max_partitions: The number of partitions above which they are added up by topic.
        with_clients: Whether the metrics of Kafka's clients are among them.
    """
    partitions = sum(len(source.partitions) for source in report.sources)
    values = (value for value in values_of(report) if with_clients or value.metric.name not in _CLIENT_NAMES)
    return values if partitions <= max_partitions else _without_partitions(values)


def _without_partitions(values: Iterable[Value]) -> Iterator[Value]:
    """Add partitions up by topic, with an empty label; of ages the largest counts, and offsets have no sum."""
    sums: dict[tuple[str, tuple[str, ...]], Value] = {}
    for value in values:
        if value.metric.name not in _PARTITION_NAMES:
            yield value
        elif not value.metric.source.endswith("offset"):
            labels = (*value.labels[:-1], "")
            before = sums.get((value.metric.name, labels))
            total = value.value if before is None else _together(value.metric, before.value, value.value)
            sums[value.metric.name, labels] = Value(value.metric, labels, total)
    yield from sums.values()


def _together(metric: Metric, one: float, other: float) -> float:
    return max(one, other) if metric.unit == "seconds" else one + other
