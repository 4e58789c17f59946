"""Facts about a query that only the program which started it knows: for reporters of lineage."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

MAX_QUERIES = 200
"""The number of queries whose facts are remembered, the newest."""


class Dataset(NamedTuple):
    """A dataset by OpenLineage's rules for names, such as ``("kafka://broker:9092", "orders")``."""

    namespace: str
    name: str


class LineageColumn(NamedTuple):
    """A column of a dataset from which another column is computed."""

    dataset: Dataset
    column: str


def _no_columns() -> Mapping[str, Sequence[LineageColumn]]:
    return {}


@dataclass(frozen=True)
class QueryLineage:
    """Facts about a query.

    Attributes:
        job_type: What started it: ``SQL`` or ``PIPELINE``.
        sql: Its statement; empty where it has none.
        outputs: Returns the datasets that it writes, beside the topics of a millrace sink. Called with each event.
        columns: Computes the input columns of each column written. Called only where somebody reports lineage.
    """

    job_type: str
    sql: str = ""
    outputs: Callable[[], Sequence[Dataset]] = tuple
    columns: Callable[[], Mapping[str, Sequence[LineageColumn]]] = _no_columns


_by_name: dict[str, QueryLineage] = {}
_lock = threading.Lock()


def describe_query(name: str, lineage: QueryLineage) -> None:
    """Remember facts about the query that starts next under a name."""
    with _lock:
        _by_name[name] = lineage
        while len(_by_name) > MAX_QUERIES:
            del _by_name[next(iter(_by_name))]


def lineage_of(name: str) -> QueryLineage | None:
    """Return the facts about the query of a name; None where its program has said nothing."""
    return _by_name.get(name)


def kafka_dataset(servers: str, topic: str) -> Dataset:
    """Name a topic: by its cluster's first bootstrap server, as OpenLineage's rules say."""
    first = servers.split(",")[0].strip().rpartition("://")[2]
    has_port = first.rpartition(":")[2].isdigit() and not first.endswith("]")
    return Dataset(f"kafka://{first if has_port else f'{first}:9092'}", topic)
