"""Functions of users in a running pipeline."""

from __future__ import annotations

import pytest
from pyspark.errors import StreamingQueryException

from millrace_cdc import Pipeline
from support.kafka import consume, produce

ADDRESSES = """
import pyarrow as pa
import pyarrow.compute as pc


def domain(addresses: pa.StringArray) -> pa.StringArray:
    return pc.replace_substring_regex(addresses, ".*@", "")
"""
PIPELINE = """
source:
  type: values
  changes: |
    +I shop.users {"id": 1, "email": "ann@a.org", "rate": 2}
    +I shop.users {"id": 2, "email": "bob@b.org", "rate": 0}
    +I shop.users {"id": 3, "email": null, "rate": 4}
    -U shop.users {"id": 1, "email": "ann@a.org", "rate": 2}
    +U shop.users {"id": 1, "email": "ann@c.org", "rate": 5}
    +I shop.other {"id": 7}
transform:
  - source-table: shop.users
    projection: id, domain(LOWER(email)) AS domain, Share(share(rate)) + 1 AS share
    filter: keeps(id, rate)
    primary-keys: id
pipeline:
  user-defined-function:
    - {name: domain, classpath: "addresses.py:domain"}
    - {name: share, python-code: "def eval(rate): return 100 / rate", return-type: DOUBLE}
    - {name: keeps, classpath: operator.ne, return-type: BOOLEAN}
sink: {type: values, print.enabled: false, materialized.in.memory: true}
"""


def test_functions_compute_columns_and_choose_rows(spark, tmp_path):
    (tmp_path / "addresses.py").write_text(ADDRESSES)
    file = tmp_path / "shop.yaml"
    file.write_text(PIPELINE.replace('"id": 2', '"id": 0'))
    pipeline = Pipeline.from_file(file)

    assert pipeline.plan(spark).problems == ()
    running = pipeline.run(spark, checkpoint_location=str(tmp_path / "checkpoint"), once=True)
    running.await_termination()
    # The filter drops the row whose rate is 0, which share cannot divide by
    tables = {table: sorted(rows, key=lambda row: row["id"]) for table, rows in running.sink.tables.items()}
    assert tables == {
        "shop.users": [{"id": 1, "domain": "c.org", "share": 6.0}, {"id": 3, "domain": None, "share": 5.0}],
        "shop.other": [{"id": 7}],
    }


def test_a_plan_reports_a_call_that_does_not_fit_its_function(spark):
    code = 'python-code: "def eval(rate: str): return rate"'
    text = PIPELINE.replace("addresses.py:domain", "posixpath.basename").replace(
        'classpath: "posix', 'return-type: STRING, classpath: "posix'
    )
    text = text.replace('python-code: "def eval(rate): return 100 / rate"', code)
    assert [str(problem) for problem in Pipeline.from_yaml(text).plan(spark).problems] == [
        "line 13, column 59: transform of table 'shop.users': function 'share': its argument rate is str, "
        "but the expression is BIGINT"
    ]


@pytest.mark.nightly
def test_a_function_that_fails_is_told_with_table_rule_and_message(spark, tmp_path):
    (tmp_path / "addresses.py").write_text(ADDRESSES)
    file = tmp_path / "shop.yaml"
    file.write_text(PIPELINE)
    running = Pipeline.from_file(file).run(spark, checkpoint_location=str(tmp_path / "checkpoint"), once=True)
    with pytest.raises(StreamingQueryException, match="division by zero") as told:
        running.await_termination()
    assert "table 'shop.users': transform of shop.users, line 13, column 59: share(rate) fails for the message" in str(
        told.value
    )


@pytest.mark.nightly
def test_a_function_that_fails_pauses_its_table_and_others_go_on(spark, connection, broker, make_topic, tmp_path):
    topic, dead = make_topic(), make_topic()
    messages = [
        b'{"t": "users", "id": 1, "rate": 2}',
        b'{"t": "other", "id": 7}',
        b'{"t": "users", "id": 2, "rate": 0}',
    ]
    produce(broker.bootstrap_servers, topic, [{"value": message} for message in messages])
    pipeline = Pipeline.from_yaml(f"""
source:
  type: kafka
  properties.bootstrap.servers: {connection["properties.bootstrap.servers"]}
  topic: {topic}
  scan.startup.mode: earliest-offset
  value.format: json
  json.decode.parser-table-id.fields: t
transform:
  - {{source-table: users, projection: 'id, share(rate) AS share'}}
pipeline:
  table.failure.behavior: pause
  dirty-data.collector: {{type: topic, topic: {dead}}}
  user-defined-function:
    - {{name: share, python-code: "def eval(rate): return 100 / rate", return-type: DOUBLE}}
sink: {{type: parquet, path: '{tmp_path / "tables"}'}}
""")
    running = pipeline.run(spark, checkpoint_location=str(tmp_path / "checkpoint"), once=True)
    running.await_termination()
    assert list(running.progress.paused) == ["users"]
    assert "share(rate) fails for the message of topic" in running.progress.paused["users"]
    assert "division by zero" in running.progress.paused["users"]
    others = spark.read.parquet(str(tmp_path / "tables" / "other")).select("row_kind", "id").collect()
    assert [tuple(row) for row in others] == [("+I", 7)]
    assert spark.read.parquet(str(tmp_path / "tables" / "users")).count() == 0
    assert [message.value() for message in consume(broker.bootstrap_servers, dead)] == [messages[0], messages[2]]
