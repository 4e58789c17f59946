"""The same query over the same topics in Flink and here, as a batch, a stream, and a stream of short micro-batches."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from differential.queries import DIFFERENT, EXPRESSIONS, QUERIES, REFUSED_STREAMS, UNORDERED_BATCHES
from differential.streams import StreamedQuery
from differential.tables import TABLES, Statements, fill
from millrace.errors import MillraceError
from millrace_sql import TableEnvironment
from support.admin import delete_topics
from support.flink import Flink
from support.names import unique_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from millrace_broker import KafkaBroker

BATCH, STREAM, RESTARTED = "a batch", "a stream", "short micro-batches with a restart"
PAGE = Path(__file__).parents[2] / "docs" / "sql-dialect.md"


@pytest.fixture(scope="module")
def tables(broker: KafkaBroker) -> Iterator[Statements]:
    made: list[str] = []

    def make_topic(partitions: int) -> str:
        made.append(unique_name("differential"))
        broker.create_topic(made[-1], partitions)
        return made[-1]

    yield fill(broker.bootstrap_servers, make_topic)
    delete_topics(broker.bootstrap_servers, made)


@pytest.fixture(scope="module")
def in_flink(tables: Statements) -> Iterator[Callable[[str], list[str]]]:
    """Return the rows that Flink has for a query of some name, each as a text; it runs each query once."""
    known: dict[str, list[str]] = {}
    with closing(Flink()) as running:
        yield lambda name: known.get(name) or known.setdefault(name, _of_flink(running, tables.bounded, QUERIES[name]))


def _of_flink(running: Flink, tables: Sequence[str], query: str) -> list[str]:
    return sorted(map(json.dumps, running.rows(tables, query)))


@pytest.fixture(scope="module")
def restarts() -> Iterator[list[bool]]:
    """Collect whether queries that were to fail once did; those over small tables have one micro-batch."""
    made: list[bool] = []
    yield made
    assert made.count(True) >= 0.8 * len(made)


@pytest.fixture
def make_environment(spark: SparkSession) -> Callable[[str, Sequence[str]], TableEnvironment]:
    """Return a function that makes an environment with tables for a way to run queries."""

    def make(way: str, statements: Sequence[str]) -> TableEnvironment:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
        made = TableEnvironment(spark)
        made.execute_sql("SET 'parallelism.default' = '2'")
        made.execute_sql(f"SET 'execution.runtime-mode' = '{'batch' if way == BATCH else 'streaming'}'")
        for statement in statements:
            made.execute_sql(statement)
        for table in TABLES if way == RESTARTED else ():
            made.execute_sql(f"ALTER TABLE {table} SET ('scan.max-records-per-batch' = '40')")
        return made

    return make


@pytest.mark.parametrize("name", QUERIES)
def test_the_rows_of_a_batch_are_those_of_flink(make_environment, in_flink, tables, name):
    with make_environment(BATCH, tables.bounded).execute_sql(QUERIES[name]).collect() as rows:
        ours = _texts(rows)
    if name in UNORDERED_BATCHES:
        assert UNORDERED_BATCHES[name] in PAGE.read_text()
        assert _groups(ours) == _groups(in_flink(name))
    else:
        _compare(name, ours, in_flink(name))


@pytest.mark.parametrize("name", [name for name in QUERIES if name not in {*EXPRESSIONS, *REFUSED_STREAMS}])
@pytest.mark.parametrize("way", [STREAM, RESTARTED])
def test_the_rows_that_a_stream_leaves_are_those_of_flink(
    make_environment, in_flink, tables, tmp_path, restarts, way, name
):
    query = StreamedQuery(make_environment(way, tables.bounded), QUERIES[name])
    if query.plan.has_windows:
        # Windows that no later row ends are never over
        query = StreamedQuery(make_environment(way, tables.endless), QUERIES[name])
    ours = _texts(query.table(tmp_path, failing=1 if way == RESTARTED else None))
    if way == RESTARTED:
        restarts.append(query.has_failed)
    _compare(name, ours, in_flink(name))


@pytest.mark.parametrize("name", REFUSED_STREAMS)
def test_a_stream_is_refused_before_it_starts(make_environment, tables, name):
    with pytest.raises(MillraceError, match=REFUSED_STREAMS[name]):
        make_environment(STREAM, tables.bounded).explain_sql(QUERIES[name])


# Flink runs each expression as a query of its own, where no test before this one has asked it
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("way", [STREAM, RESTARTED])
def test_expressions_have_the_values_of_flink_in_a_stream(make_environment, in_flink, tables, tmp_path, way):
    columns = ", ".join(f"{expression} AS v{number}" for number, expression in enumerate(EXPRESSIONS.values()))
    query = StreamedQuery(make_environment(way, tables.bounded), f"SELECT id, {columns} FROM orders")
    rows = query.table(tmp_path, failing=1 if way == RESTARTED else None)
    assert query.has_failed == (way == RESTARTED)
    for number, name in enumerate(EXPRESSIONS):
        _compare(name, _texts((row[0], row[number + 1]) for row in rows), in_flink(name))


def _compare(name: str, ours: list[str], theirs: list[str]) -> None:
    if name in DIFFERENT:
        assert DIFFERENT[name] in PAGE.read_text()
        assert ours != theirs, f"{name} is equal: remove its line"
    else:
        assert ours == theirs, name


def _groups(rows: Iterable[str]) -> list[str]:
    """Return the first column of rows."""
    return sorted(str(json.loads(row)[0]) for row in rows)


def _texts(rows: Iterable[Sequence[Any]]) -> list[str]:
    return sorted(json.dumps([_plain(value) for value in row]) for row in rows)


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
