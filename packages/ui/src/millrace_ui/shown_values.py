"""The values of a query's metrics that exporters show: where it has many partitions, they are added up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from millrace.contracts import QueryReport
from millrace.contracts.metric_declarations import PARTITION_METRICS, Metric, Value, values_of

_PARTITION_NAMES = {metric.name for metric in PARTITION_METRICS}


def shown_values(report: QueryReport, max_partitions: int) -> Iterable[Value]:
    """Yield the values of a query's metrics; those of topics where it has more partitions than so many."""
    partitions = sum(len(source.partitions) for source in report.sources)
    values = values_of(report)
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
