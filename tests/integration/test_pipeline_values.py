"""Pipelines without Kafka: changes of the file in, lines and tables of this process out; and plans of them."""

from __future__ import annotations

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from millrace import set_active_session
from millrace.streams import SOURCE_EVOLUTION
from millrace_cdc import Pipeline

PIPELINE = """
source:
  type: values
  schemas: CREATE TABLE shop.users (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED)
  changes: |
    +I shop.orders {"id": 1, "price": 5}
    +I shop.users {"id": 1, "name": "x"}
    -U shop.orders {"id": 1, "price": 5}
    +U shop.orders {"id": 1, "price": 6.5}
    -D shop.users {"id": 1, "name": "x"}
    +I shop.users {"id": 2, "name": "y", "more": [1]}
sink: {type: values, materialized.in.memory: true}
transform:
  - {source-table: shop.orders, primary-keys: id, projection: "*, price * 2 AS twice"}
route:
  - {source-table: shop.users, sink-table: ods.users}
"""


def test_changes_of_the_file_are_printed_and_kept_in_memory(spark, tmp_path, capsys):
    running = Pipeline.from_yaml(PIPELINE).run(spark, checkpoint_location=str(tmp_path), once=True)
    running.await_termination()

    printed = capsys.readouterr().out.splitlines()
    assert printed[:3] == [
        "CREATE TABLE ods.users (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED);",
        "ALTER TABLE ods.users ADD (more ARRAY<BIGINT>);",
        "CREATE TABLE shop.orders (id BIGINT, price DOUBLE, twice DOUBLE, PRIMARY KEY (id) NOT ENFORCED);",
    ]
    # Tables with expressions come behind those without
    assert printed[3:] == [
        '+I ods.users {"id":1,"name":"x","more":null}',
        '-D ods.users {"id":1,"name":"x","more":null}',
        '+I ods.users {"id":2,"name":"y","more":[1]}',
        '+I shop.orders {"id":1,"price":5.0,"twice":10.0}',
        '-U shop.orders {"id":1,"price":5.0,"twice":10.0}',
        '+U shop.orders {"id":1,"price":6.5,"twice":13.0}',
    ]
    assert running.sink.tables == {
        "ods.users": [{"id": 2, "name": "y", "more": [1]}],
        "shop.orders": [{"id": 1, "price": 6.5, "twice": 13.0}],
    }

    # What was written is not written again
    again = Pipeline.from_yaml(PIPELINE).run(spark, checkpoint_location=str(tmp_path), once=True)
    again.await_termination()
    assert capsys.readouterr().out == ""


FAILS_ONCE = """
source:
  type: values
  schemas: CREATE TABLE users (id BIGINT NOT NULL, PRIMARY KEY (id) NOT ENFORCED)
  changes: |
    +I users {{"id": 1, "name": "x"}}{more}
sink: {{type: values, materialized.in.memory: true, error.on.schema.change: {refuses}}}
pipeline: {{schema.change.behavior: evolve}}
"""


CHANGED = """
source:
  type: values
  changes: |
    +I shop.o {{"id": 1, "v": "a", "more": 1}}
    {more}
sink: {{type: values, materialized.in.memory: true}}
transform: [{{source-table: shop.o, primary-keys: id, projection: "{projection}"}}]
route: [{{source-table: shop.o, sink-table: {target}}}]
"""


def test_a_run_with_other_rules_does_what_its_plan_says(spark, tmp_path, capsys):
    first = Pipeline.from_yaml(CHANGED.format(more="", projection="id, v", target="ods.o"))
    first.run(spark, checkpoint_location=str(tmp_path), once=True).await_termination()

    added = '+I shop.o {"id": 2, "v": "b", "more": 2}'
    wider = Pipeline.from_yaml(CHANGED.format(more=added, projection="id, v, more + 1 AS sum", target="ods.o"))
    planned = [
        each
        for target in wider.plan(spark, checkpoint_location=str(tmp_path)).targets
        for each in target.schema_changes
    ]
    capsys.readouterr()
    wider.run(spark, checkpoint_location=str(tmp_path), once=True).await_termination()
    printed = capsys.readouterr().out.splitlines()
    assert printed == ["ALTER TABLE ods.o ADD (sum BIGINT);", '+I ods.o {"id":2,"v":"b","sum":3}']
    assert planned == printed[:1]

    added += '\n    +I shop.o {"id": 3, "v": "c", "more": 3}'
    elsewhere = Pipeline.from_yaml(CHANGED.format(more=added, projection="id, v", target="ods.p"))
    plan = elsewhere.plan(spark, checkpoint_location=str(tmp_path))
    running = elsewhere.run(spark, checkpoint_location=str(tmp_path), once=True)
    running.await_termination()
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "CREATE TABLE ods.p (id BIGINT, v STRING, PRIMARY KEY (id) NOT ENFORCED);"
    assert {each.id: list(each.schema_changes) for each in plan.targets} == {"ods.p": printed[:1]}
    assert running.sink.tables == {"ods.p": [{"id": 3, "v": "c"}]}


@pytest.mark.nightly
def test_a_run_after_a_failure_ends_with_the_changes_that_have_come_since(spark, tmp_path):
    first = Pipeline.from_yaml(FAILS_ONCE.format(refuses="true", more=""))
    with pytest.raises(StreamingQueryException, match="name"):
        first.run(spark, checkpoint_location=str(tmp_path), once=True).await_termination()

    more = '\n    +I users {"id": 2, "name": "y"}'
    second = Pipeline.from_yaml(FAILS_ONCE.format(refuses="false", more=more))
    running = second.run(spark, checkpoint_location=str(tmp_path), once=True)
    running.await_termination()

    assert running.sink.tables == {"users": [{"id": 1, "name": "x"}, {"id": 2, "name": "y"}]}


def test_a_plan_checks_expressions_at_their_places_and_says_where_a_run_goes_on(spark, tmp_path):
    wrong = Pipeline.from_yaml(PIPELINE.replace("price * 2 AS twice", "price * 2 AS a, DATE_ADD(price, price) AS b"))
    (problem,) = wrong.plan(spark, checkpoint_location=str(tmp_path / "none")).problems
    line = next(number for number, text in enumerate(PIPELINE.splitlines(), start=1) if "twice" in text)
    assert (problem.position.line, problem.position.column) == (
        line,
        PIPELINE.splitlines()[line - 1].index("twice") + 1 + 3,
    )
    assert "DATATYPE_MISMATCH" in problem.sentence

    checkpoint = str(tmp_path / "checkpoint")
    pipeline = Pipeline.from_yaml(PIPELINE)
    before = pipeline.plan(spark, checkpoint_location=checkpoint)
    assert (before.start, before.problems) == (None, ())
    assert [target.schema_changes for target in before.targets] == [
        ("CREATE TABLE ods.users (id BIGINT, name STRING, more ARRAY<BIGINT>, PRIMARY KEY (id) NOT ENFORCED);",),
        ("CREATE TABLE shop.orders (id BIGINT, price DOUBLE, twice DOUBLE, PRIMARY KEY (id) NOT ENFORCED);",),
    ]
    assert not (tmp_path / "checkpoint").exists()

    pipeline.run(spark, checkpoint_location=checkpoint, once=True).await_termination()
    added = PIPELINE.replace("sink:", '    +I shop.users {"id": 3, "age": 1}\nsink:')
    after = Pipeline.from_yaml(added).plan(spark, checkpoint_location=checkpoint)
    assert (after.start.batch, after.start.repeats, after.start.offsets) == (0, False, {"offset": 5})
    evidence = {column.name: column.evidence for column in after.tables[1].columns}
    assert {name: each.origin for name, each in evidence.items()} == {
        "id": "file",
        "name": "file",
        "more": "checkpoint",
        "age": "message",
    }
    assert after.targets[0].schema_changes == ("ALTER TABLE ods.users ADD (age BIGINT);",)
    assert after.targets[1].schema_changes == ()


@pytest.mark.nightly
def test_a_second_pipeline_runs_in_the_same_session_which_stays_as_it_was(spark, tmp_path):
    set_active_session(spark)
    text = PIPELINE + "pipeline: {local-time-zone: Asia/Tokyo}\n"
    for name in ("first", "second"):
        running = Pipeline.from_yaml(text).run(spark, checkpoint_location=str(tmp_path / name), once=True)
        running.await_termination()
        assert running.sink.tables["shop.orders"] == [{"id": 1, "price": 6.5, "twice": 13.0}]
        active = SparkSession.getActiveSession()
        assert active is not None
        assert active.conf.get("spark.sql.session.timeZone") == "UTC"


@pytest.mark.nightly
def test_a_pipeline_runs_where_spark_demands_names_of_sources(spark, tmp_path):
    session = spark.newSession()
    session.conf.set(SOURCE_EVOLUTION, "true")
    running = Pipeline.from_yaml(PIPELINE).run(session, checkpoint_location=str(tmp_path), once=True)
    running.await_termination()
    assert running.sink.tables["ods.users"] == [{"id": 2, "name": "y", "more": [1]}]
    start = Pipeline.from_yaml(PIPELINE).plan(session, checkpoint_location=str(tmp_path)).start
    assert (start.batch, start.repeats) == (0, False)
