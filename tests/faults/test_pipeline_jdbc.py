"""A pipeline into a database, whose driver is killed amid and right after its transactions."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from millrace_catalog.sinks.jdbc.postgresql import PostgreSQL
from millrace_cdc import Pipeline
from support.families import Family
from support.jdbc_drivers import add_drivers
from support.kafka import produce
from support.postgres import Postgres
from support.waiting import wait_until

PROGRAM = Path(__file__).parents[1] / "programs" / "run_pipeline.py"
# The first commits of a run are those of the table of pipelines and of schema changes, if there are any
AMID_SCHEMA_CHANGE, AFTER_ROWS = ["before", 1], ["after", 2]


def test_kills_amid_a_schema_change_and_after_the_rows_leave_each_change_once(
    spark, connection, broker, make_topic, tmp_path
):
    topic = make_topic(2)

    def send(rows):
        contents = [{"after": row, "op": "c", "source": {"db": "shop", "table": row["t"]}} for row in rows]
        messages = [{"value": json.dumps(each).encode(), "partition": place % 2} for place, each in enumerate(contents)]
        produce(broker.bootstrap_servers, topic, messages)

    add_drivers(spark)
    with Postgres() as postgres:
        yaml = f"""
source:
  type: kafka
  properties.bootstrap.servers: {connection["properties.bootstrap.servers"]}
  topic: {topic}
  scan.startup.mode: earliest-offset
sink:
  type: jdbc
  url: {postgres.url}
  username: tests
  password: {postgres.properties["password"]}
"""
        given = {"yaml": yaml, "checkpoint": str(tmp_path / "checkpoint"), "packages": PostgreSQL.package}
        login = {**postgres.properties, "url": postgres.url, "driver": PostgreSQL.driver}
        read = spark.read.format("jdbc").options(**login)

        def rows_of(query):
            return [tuple(row) for row in read.option("query", query).load().collect()]

        def killed(kill):
            command = [sys.executable, str(PROGRAM), json.dumps({**given, "kill": kill})]
            with Family(command, tmp_path / "console") as driver:
                wait_until(lambda: not driver.is_running(), "the driver to end", 120)
                console = driver.console.read_text()
                assert "Traceback" not in console, console

        send([{"t": f"t{number % 3}", "id": number} for number in range(60)])
        killed(AMID_SCHEMA_CHANGE)
        tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'shop'"
        assert rows_of(tables) == [(0,)]
        killed(AFTER_ROWS)
        assert rows_of(tables) == [(3,)]
        assert rows_of("SELECT batch FROM millrace_pipelines") == [(0,)]
        send([{"t": f"t{number % 3}", "id": number, "late": 0.5} for number in range(60, 90)])
        Pipeline.from_yaml(yaml).run(spark, checkpoint_location=given["checkpoint"], once=True).await_termination()

        # No table has a primary key, which would hide a row that is there twice
        for table in range(3):
            found = rows_of(f"SELECT id, late FROM shop.t{table}")
            assert sorted(found) == [(n, None if n < 60 else 0.5) for n in range(table, 90, 3)]
