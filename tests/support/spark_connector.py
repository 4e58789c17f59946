"""Run the same queries through Spark's own Kafka connector and through millrace, in a session of its own.

A program, since the jars of Spark's connector must be there when the session starts: queries come as JSON on standard
input, and for each connector what they gave goes out as the last line of standard output.
"""

from __future__ import annotations

import base64
import json
import sys
import tempfile
from collections.abc import Callable, Iterable
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession

import millrace

CONNECTORS = ("kafka", "millrace")


def main() -> None:
    """Run all queries."""
    given = json.load(sys.stdin)
    session = millrace.local_session(
        "both connectors",
        cores=2,
        config={"spark.jars": ",".join(given["jars"]), "spark.log.level": "OFF", "spark.driver.memory": "1g"},
    )
    kinds: dict[str, Callable[..., dict[str, Any]]] = {"batch": batch, "stream": stream, "write": write}
    found = {
        name: {connector: attempt(kinds[query["kind"]], session, connector, query) for connector in CONNECTORS}
        for name, query in given["queries"].items()
    }
    session.stop()
    print(json.dumps(found))


def attempt(run: Callable[..., dict[str, Any]], session: SparkSession, connector: str, query: Any) -> dict[str, Any]:
    """Return a query's rows, or the error that it ends with."""
    try:
        return run(session, connector, query)
    except (Py4JError, PySparkException) as error:
        return {"error": str(error)}


def batch(session: SparkSession, connector: str, query: Any) -> dict[str, Any]:
    """Read a topic as a batch."""
    rows = session.read.format(connector).options(**query["options"]).load()
    return {"schema": rows.schema.jsonValue(), "rows": shown(rows)}


def stream(session: SparkSession, connector: str, query: Any) -> dict[str, Any]:
    """Read what a topic holds as a stream, and count the rows of each micro-batch."""
    rows = session.readStream.format(connector).options(**query["options"]).load()
    table = f"{query['name']}_{connector}"
    with tempfile.TemporaryDirectory() as checkpoint:
        writer = rows.writeStream.format("memory").queryName(table).option("checkpointLocation", checkpoint)
        running = writer.trigger(availableNow=True).start()
        running.awaitTermination()
    sizes = [progress.numInputRows for progress in running.recentProgress if progress.numInputRows]
    return {"schema": rows.schema.jsonValue(), "rows": shown(session.table(table)), "sizes": sizes}


def write(session: SparkSession, connector: str, query: Any) -> dict[str, Any]:
    """Write rows into topics of the connector's own; as a stream, or as a batch."""
    rows = session.sql(query["rows"].format(connector=connector))
    options = {name: text.format(connector=connector) for name, text in query["options"].items()}
    if not query.get("streaming"):
        rows.coalesce(1).write.format(connector).options(**options).mode("append").save()
        return {}
    with tempfile.TemporaryDirectory() as folder:
        rows.coalesce(1).write.parquet(f"{folder}/rows")
        source = session.readStream.schema(rows.schema).parquet(f"{folder}/rows")
        writer = source.writeStream.format(connector).options(**options)
        running = writer.option("checkpointLocation", f"{folder}/checkpoint").trigger(availableNow=True).start()
        running.awaitTermination()
    return {}


def shown(rows: DataFrame) -> list[Any]:
    """Return rows in the order of the topics, in JSON's types."""
    # Sorted here: Spark would read everything twice to sort it
    return [plain(row) for row in sorted(rows.collect(), key=lambda row: (row.topic, row.partition, row.offset))]


def plain(value: Any) -> Any:
    """Convert a value to JSON's types."""
    if isinstance(value, bytearray | bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, Row):
        return [plain(field) for field in value]
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, str | int) else str(value)


if __name__ == "__main__":
    main()
