"""Mistakes that users make, each with the parts of the sentence that it must end in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession

from support.waiting import PATIENCE_S


class Playground(NamedTuple):
    """A place to make mistakes in.

    Attributes:
        spark: A session.
        servers: Addresses of a broker with the topics of `topics.TOPICS`.
        folder: An empty folder, for each mistake another one.
    """

    spark: SparkSession
    servers: str
    folder: Path

    def read(self, schema: str | None = None, **options: str) -> DataFrame:
        """Load a batch; options have the names of Python, see `options_of`."""
        reader = self.spark.read.format("millrace").options(**self._options(options))
        return (reader.schema(schema) if schema else reader).load()

    def stream(self, schema: str | None = None, **options: str) -> DataFrame:
        """Load a stream."""
        reader = self.spark.readStream.format("millrace").options(**self._options(options))
        return (reader.schema(schema) if schema else reader).load()

    def run(self, rows: DataFrame, mode: str = "append", sink: str = "noop", **options: str) -> None:
        """Write a stream until what was there is written."""
        own = {"checkpointLocation": str(self.folder), **options}
        writer = rows.writeStream.format(sink).outputMode(mode).options(**own)
        writer.trigger(availableNow=True).start().awaitTermination(PATIENCE_S)

    def write(self, rows: DataFrame, mode: str = "append", **options: str) -> None:
        """Write a batch."""
        rows.write.format("millrace").mode(mode).options(**self._options(options, "write")).save()

    def values(self, columns: str = "'a' AS value") -> DataFrame:
        """Return a row; column id is 0."""
        return self.spark.sql(f"SELECT {columns} FROM range(1)")

    def _options(self, options: Mapping[str, str], kind: str = "read") -> dict[str, str]:
        first = {"properties.bootstrap.servers": self.servers}
        if kind == "read":
            first["scan.startup.mode"] = "earliest-offset"
        given = options_of(options)
        return {name: value for name, value in {**first, **given}.items() if value}


def options_of(options: Mapping[str, str]) -> dict[str, str]:
    """Return options whose names are those of Python: ``_`` for ``.``, and ``__`` for ``-``."""
    return {name.replace("__", "-").replace("_", "."): value for name, value in options.items()}


class Mistake(NamedTuple):
    """A mistake.

    Attributes:
        name: What is wrong.
        make: Makes it, in a playground.
        says: Parts of what a terminal must show: what is wrong, where, and what to do.
        is_slow: Whether it waits for brokers for seconds.
    """

    name: str
    make: Callable[[Playground], Any]
    says: tuple[str, ...]
    is_slow: bool = False


class WrongOptions(NamedTuple):
    """Options of a read that are wrong, which is told before any task runs.

    Attributes:
        name: What is wrong.
        options: The options; without an address it is the playground's.
        schema: The columns, as Spark's DDL; None for none.
        says: As of `Mistake`.
    """

    name: str
    options: Mapping[str, str]
    schema: str | None
    says: tuple[str, ...]

    def in_spark(self) -> Mistake:
        """Return the mistake as one that is made in a session."""
        return Mistake(self.name, lambda place: place.read(self.schema, **self.options).count(), self.says)


def misread(name: str, *says: str, schema: str | None = "id INT", **options: str) -> WrongOptions:
    """Return wrong options, beside a topic and a format that are right."""
    return WrongOptions(name, {"topic": "orders", "format": "json", **options}, schema, says)
