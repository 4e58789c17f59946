"""Run SQL in a session of Spark Connect; the argument says where, as JSON, and where the results go."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from millrace.errors import MillraceError
from millrace_sql import TableEnvironment

given = json.loads(sys.argv[1])
spark = SparkSession.builder.remote(given["remote"]).getOrCreate()
env = TableEnvironment(spark, config={"execution.checkpointing.dir": f"{given['folder']}/checkpoints"})


def create(name: str, columns: str, **options: str) -> None:
    options = {"topic": given[name], "properties.bootstrap.servers": given["servers"], **options}
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    env.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ({pairs})")


def rows(query: str) -> list[list[Any]]:
    with env.execute_sql(query).collect() as found:
        return sorted(list(row) for row in found)


def batches() -> list[list[Any]]:
    env.execute_sql("SET 'execution.runtime-mode' = 'batch'")
    env.execute_sql("INSERT INTO orders VALUES (1, 'Rome', 50), (2, 'Rome', 150), (3, 'Oslo', 200)")
    env.execute_sql("CREATE VIEW large_orders AS SELECT id, city FROM orders WHERE amount > 100")
    return rows("SELECT * FROM large_orders")


def streams() -> dict[str, list[list[Any]]]:
    """Return the rows of a stream, and of one whose groups replace their old rows."""
    env.execute_sql("SET 'execution.runtime-mode' = 'streaming'")
    for insert in (
        "INSERT INTO large SELECT id, city FROM orders WHERE amount > 100",
        "INSERT INTO totals SELECT city, SUM(amount) FROM orders GROUP BY city",
    ):
        result = env.execute_sql(insert)
        result.query.processAllAvailable()
        result.get_job_client().cancel().result()
    env.execute_sql("SET 'execution.runtime-mode' = 'batch'")
    return {table: rows(f"SELECT * FROM {table}") for table in ("large", "totals")}


def refused() -> list[str]:
    """Return the errors of what needs this process for each micro-batch."""
    env.execute_sql("SET 'execution.runtime-mode' = 'streaming'")
    env.execute_sql("CREATE TABLE out (id BIGINT) WITH ('connector' = 'print')")
    errors = []
    for statement in (
        "SELECT id FROM orders",
        "INSERT INTO out SELECT id FROM orders",
        """INSERT INTO large SELECT o.id, t.city FROM orders AS o
            JOIN totals FOR SYSTEM_TIME AS OF PROCTIME() AS t ON o.city = t.city""",
    ):
        try:
            env.execute_sql(statement)
        except MillraceError as error:
            errors.append(str(error))
    return errors


kafka = {"connector": "kafka", "format": "json", "scan.startup.mode": "earliest-offset"}
upsert = {"connector": "upsert-kafka", "key.format": "json", "value.format": "json"}
create("orders", "id BIGINT, city STRING, amount BIGINT", **kafka)
create("large", "id BIGINT, city STRING", **kafka)
create("totals", "city STRING, amount BIGINT, PRIMARY KEY (city) NOT ENFORCED", **upsert)
parts = [batches, streams, refused]
Path(given["results"]).write_text(json.dumps({part.__name__: part() for part in parts}))
spark.stop()
