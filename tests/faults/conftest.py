"""Queries and producers that run while something happens to them; they are ended after the test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from support.copying import Copy
from support.queries import local_session
from support.writing import SteadyProducer

TIMEOUT_S = 1200
"""For a whole test: some start five drivers, one after the other, each of which may take `PATIENCE_S`."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each test here its time, which the project's default would cut short on a busy machine."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(TIMEOUT_S))


@pytest.fixture(scope="session", autouse=True)
def quick_drivers(spark_home: Path) -> None:
    """Let drivers start quickly: most tests here start some, and some of them without this process's own session."""


@pytest.fixture(scope="session")
def spark(spark_home: Path) -> Iterator[SparkSession]:
    """A session whose tasks may be killed several times, in place of the one that other tests have."""
    with local_session(attempts=6) as session:
        yield session


@pytest.fixture
def writing() -> Iterator[Callable[[str, str], SteadyProducer]]:
    """Start steady producers."""
    producers: list[SteadyProducer] = []

    def start(servers: str, topic: str) -> SteadyProducer:
        producers.append(SteadyProducer(servers, topic))
        producers[-1].start()
        return producers[-1]

    yield start
    for producer in producers:
        producer.finish()


@pytest.fixture
def copying(tmp_path: Path) -> Iterator[Callable[..., Copy]]:
    """Make queries that copy a topic exactly once."""
    copies: list[Copy] = []

    def make(servers: str, source: str, target: str, **more: Any) -> Copy:
        # Not with the checkpoint of another query: Spark would end that one
        folder = tmp_path / f"copy-{len(copies)}"
        folder.mkdir()
        copies.append(Copy(servers, source, target, folder, **more))
        return copies[-1]

    yield make
    for copy in copies:
        copy.stop()


class Saved:
    """Files that a query appends the numbers of a topic to, each exactly once, by its checkpoint.

    Args:
        spark: The session.
        folder: Where files and checkpoint are.
    """

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark
        self._files, self._checkpoint = str(folder / "files"), str(folder / "checkpoint")
        self._queries: list[Any] = []

    def start(self, servers: str, topic: str, **options: str) -> Any:
        """Start, or go on with, the query that reads a topic from its beginning."""
        query = (
            self._spark.readStream.format("millrace")
            .options(**{"properties.bootstrap.servers": servers, "scan.startup.mode": "earliest-offset", **options})
            .option("topic", topic)
            .schema("value BINARY")
            .load()
            .selectExpr("CAST(STRING(value) AS BIGINT) AS number")
            .writeStream.format("parquet")
            .options(path=self._files, checkpointLocation=self._checkpoint)
            .start()
        )
        self._queries.append(query)
        return query

    def numbers(self) -> Counter[int]:
        """Count the numbers in the result."""
        # Spark knows which of the files count
        rows = self._spark.read.schema("number BIGINT").parquet(self._files).toArrow()
        return Counter(rows["number"].to_pylist())

    def stop(self) -> None:
        """Stop all queries."""
        for query in self._queries:
            query.stop()


@pytest.fixture
def saved(spark: SparkSession, tmp_path: Path) -> Iterator[Saved]:
    """Files with the numbers of a topic."""
    files = Saved(spark, tmp_path)
    yield files
    files.stop()
