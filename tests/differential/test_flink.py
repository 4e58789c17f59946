"""The same query over the same topics in Flink and here, as a batch, a stream, and a stream of short micro-batches."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from differential.queries import DIFFERENT, QUERIES
from differential.tables import TABLES, fill
from millrace.errors import MillraceError
from millrace_sql import TableEnvironment
from millrace_sql.shell.live_table import LiveResult
from support.admin import delete_topics
from support.flink import Flink, flink
from support.names import unique_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from millrace_broker import KafkaBroker

PAGE = Path(__file__).parents[2] / "docs" / "sql-dialect.md"


@pytest.fixture(scope="module")
def tables(broker: KafkaBroker) -> Iterator[list[str]]:
    made: list[str] = []

    def make_topic(partitions: int) -> str:
        made.append(unique_name("differential"))
        broker.create_topic(made[-1], partitions)
        return made[-1]

    yield fill(broker.bootstrap_servers, make_topic)
    delete_topics(broker.bootstrap_servers, made)


@pytest.fixture(scope="module")
def in_flink(tables: list[str]) -> Iterator[Callable[[str], list[str]]]:
    """Return the rows that Flink has for a query of some name, each as a text."""
    known: dict[str, list[str]] = {}
    with flink() as running:
        yield lambda name: known.get(name) or known.setdefault(name, _of_flink(running, tables, QUERIES[name]))


def _of_flink(running: Flink, tables: Sequence[str], query: str) -> list[str]:
    return sorted(map(json.dumps, running.rows(tables, query)))


@pytest.fixture
def environment(spark: SparkSession, tables: list[str]) -> TableEnvironment:
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    made = TableEnvironment(spark)
    made.execute_sql("SET 'parallelism.default' = '2'")
    for statement in tables:
        made.execute_sql(statement)
    return made


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("way", ["batch", "stream", "short micro-batches"])
def test_the_rows_are_those_of_flink(environment, in_flink, tables, way, name):
    try:
        ours = _ours(environment, way, QUERIES[name])
    except MillraceError as refusal:
        pytest.skip(f"refused: {refusal}")
    theirs = in_flink(name)
    if name in DIFFERENT:
        assert DIFFERENT[name] in PAGE.read_text()
        assert ours != theirs, "equal: remove its line"
    else:
        assert ours == theirs


def _ours(environment: TableEnvironment, way: str, query: str) -> list[str]:
    environment.execute_sql(f"SET 'execution.runtime-mode' = '{'batch' if way == 'batch' else 'streaming'}'")
    if way == "batch":
        result = environment.execute_sql(query)
        with result.collect() as rows:
            found = [tuple(row) for row in rows]
    else:
        if way != "stream":
            for table in TABLES:
                environment.execute_sql(f"ALTER TABLE {table} SET ('scan.max-records-per-batch' = '40')")
        live = LiveResult(environment.execute_sql(query))
        live.follow()
        found = live.table.newest(1_000_000)
    return sorted(json.dumps([_plain(value) for value in row]) for row in found)


def _plain(value: Any) -> Any:
    """Return a value as the program that runs Flink writes it."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return {"double": repr(value)}
    if isinstance(value, Decimal):
        return {"decimal": f"{value:f}"}
    if isinstance(value, bytes | bytearray):
        return {"bytes": bytes(value).hex()}
    if isinstance(value, datetime | date | time):
        return {type(value).__name__: value.isoformat()}
    if isinstance(value, dict):
        return {"map": sorted(([_plain(key), _plain(each)] for key, each in value.items()), key=json.dumps)}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return {"array": [_plain(each) for each in value]}
