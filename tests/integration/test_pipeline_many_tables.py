"""A pipeline of two hundred tables: one query, a few jobs for each micro-batch, and every table right at the end."""

from __future__ import annotations

import json

from millrace_cdc import Pipeline
from support.kafka import produce

TABLES = 200
CHANGED = 10
JOBS_OF_A_MICRO_BATCH = 4
"""One parses, one or two write, and one is spare."""


def test_two_hundred_tables_with_expressions_pass_one_query_in_few_jobs_while_ten_change(
    spark, connection, broker, make_topic, tmp_path
):
    topic = make_topic()

    def send(rows):
        produce(broker.bootstrap_servers, topic, [{"value": json.dumps(row).encode()} for row in rows])

    # Each table has a column of its own, and every other one an id that is a text
    first = [
        {"table": f"t{number}", "id": id_ if number % 2 else str(id_), "price": 1.5, f"v{number}": number}
        for id_ in (1, 2)
        for number in range(TABLES)
    ]
    changed = [{"table": f"t{number}", "id": 3, "price": 0.5, "late": "x"} for number in range(1, 2 * CHANGED, 2)]
    yaml = f"""
source:
  type: kafka
  properties.bootstrap.servers: {connection["properties.bootstrap.servers"]}
  topic: {topic}
  scan.startup.mode: earliest-offset
  value.format: json
  json.decode.parser-table-id.fields: table
transform:
  - source-table: t\\.*
    projection: \\*, UPPER(table) AS origin, id * 2 AS twice
    filter: price < 1 OR id > 1
    primary-keys: id
sink: {{type: values, print.enabled: false, materialized.in.memory: true}}
"""
    send(first)
    running = Pipeline.from_yaml(yaml).run(spark, checkpoint_location=str(tmp_path))
    try:
        running.query.processAllAvailable()
        send(changed)
        running.query.processAllAvailable()
        found, progress = running.sink.tables, running.progress
        jobs = spark.sparkContext.statusTracker().getJobIdsForGroup(str(running.query.runId))
    finally:
        running.stop()

    expected = {}
    for row in [*first[TABLES:], *changed]:
        table = row["table"]
        is_changed = 0 < int(table[1:]) < 2 * CHANGED and row["id"] == 3
        rest = {"late": row["late"]} if is_changed else {}
        columns = {name: row.get(name) for name in ("table", "id", "price", f"v{table[1:]}")}
        made = {**columns, "origin": table.upper(), "twice": int(row["id"]) * 2, **rest}
        expected.setdefault(table, []).append(made)
    assert found == expected
    # A column more for ten tables, and none for the others
    assert sorted(table.version for table in progress.tables.values()) == [1] * (TABLES - CHANGED) + [2] * CHANGED
    assert 0 < len(jobs) <= JOBS_OF_A_MICRO_BATCH * progress.batches
