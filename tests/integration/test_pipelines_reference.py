"""The pipelines of the reference's page run as printed, but for addresses, and sources and sinks of other products."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from millrace.errors import OptionsError
from millrace_cdc import Pipeline
from support.kafka import consume, produce
from support.reference_pipelines import pipelines

PIPELINES = pipelines()
INTO_MEMORY = {"type": "values", "print.enabled": "false", "materialized.in.memory": "true"}
ROW = {"id": "7", "name": "Ann", "at": "2024-05-06 07:08:09", "col1": "db", "col2": "t", "key1": 1, "key2": 2}

pytestmark = pytest.mark.cases

Run = Callable[..., Any]


def change(table: str, number: int) -> dict[str, bytes]:
    content = {"before": None, "after": {"id": number}, "op": "c", "source": {"db": "mydb", "table": table}}
    return {"value": json.dumps(content).encode()}


@pytest.fixture
def run(spark, broker, tmp_path) -> Run:
    """Run an example until its source's end, with other sources, sinks and names in place of its own."""

    def run(line: int, topic: str, variables: dict[str, str] | None = None, **sections: Any) -> Any:
        content = yaml.load(PIPELINES[line], yaml.BaseLoader)
        read = {"type": "kafka", "scan.startup.mode": "earliest-offset"}
        source, sink = content.setdefault("source", read), content.setdefault("sink", INTO_MEMORY)
        if source["type"] == "mysql":
            # It stands under the source in the page, though it is the sink's
            mapping = {key: value for key, value in source.items() if key.startswith("sink.")}
            content["source"], content["sink"] = read, sink | mapping
        content["source"].setdefault("topic", topic)
        if sink["type"] == "hologres":
            content["sink"] = INTO_MEMORY
        for section in (content["source"], content["sink"]):
            if section["type"] == "kafka":
                section["properties.bootstrap.servers"] = broker.bootstrap_servers
        if content["source"]["topic"] == "test-topic":
            content["source"]["topic"] = topic
        for name, options in sections.items():
            content[name] = content.get(name, {}) | options
        given = {"kafka.topic": topic, **(variables or {})}
        pipeline = Pipeline.from_yaml(yaml.safe_dump(content), variables=given)
        running = pipeline.run(spark, checkpoint_location=str(tmp_path / str(line)), once=True)
        running.await_termination()
        return running

    return run


@pytest.fixture
def rows(make_topic, broker) -> str:
    """A topic with a row in JSON."""
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, [{"value": json.dumps(ROW).encode()}])
    return topic


@pytest.fixture
def changes(make_topic, broker) -> str:
    """A topic with changes of two tables as Debezium writes them."""
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, [change("mytable1", 1), change("mytable2", 2)])
    return topic


def tables_in(broker, topic: str) -> list[str]:
    return sorted(json.loads(each.value())["source"]["table"] for each in consume(broker.bootstrap_servers, topic))


def test_every_pipeline_is_run():
    assert PIPELINES.keys() == {1356, 2177, 2195, 2248, 2266, 2287, 2305, 2472, 2488, 2502, 2529, 2548, 2575, 2593}


@pytest.mark.nightly
def test_1356_syntax(run, changes, make_topic, broker):
    for table in ("mydb.mytable1", "mydb.mytable2"):
        make_topic(name=table)
    with pytest.raises(OptionsError, match=r"group-offsets', the default, needs 'properties.group.id'"):
        run(1356, changes)
    # With the offsets of a group, at which it starts by default
    run(1356, changes, source={"properties.group.id": changes, "properties.auto.offset.reset": "earliest"})
    assert tables_in(broker, "mydb.mytable1") == ["mytable1"]
    assert tables_in(broker, "mydb.mytable2") == ["mytable2"]


@pytest.mark.nightly
def test_2177_from_kafka(run, changes):
    given = {"value.format": "debezium-json", "scan.startup.mode": "earliest-offset"}
    found = run(2177, changes, given | {"kafka.bootstraps.server": "replaced:1"})
    assert found.sink.tables == {"mydb.mytable1": [{"id": 1}], "mydb.mytable2": [{"id": 2}]}


@pytest.mark.nightly
def test_2195_to_kafka_by_a_route(run, changes, make_topic, broker):
    target = make_topic()
    run(2195, changes, {"kafka.topic": target, "mysql.source.table": r"mydb.mytable\d"}, source={"topic": changes})
    assert tables_in(broker, target) == [target, target]


@pytest.mark.nightly
def test_2248_initial_schemas(run, rows):
    found = run(2248, rows)
    assert found.sink.tables.keys() == {"db1.t1", "db1.t2", rows}
    assert found.sink.tables[rows] == [ROW]


@pytest.mark.nightly
def test_2266_fixed_types(run, rows):
    # As written, id is a text
    assert run(2266, rows).sink.tables[rows] == [ROW | {"id": 7}]


@pytest.mark.nightly
def test_2287_ids_of_tables_from_fields(run, rows):
    assert run(2287, rows).sink.tables == {"db.t": [ROW]}


@pytest.mark.nightly
def test_2305_primary_keys(run, changes, broker):
    for number in (1, 2):
        row = {"key1": 1, "key2": 2, "number": number}
        content = {"before": None, "after": row, "op": "c", "source": {"db": "mydb", "table": "keyed"}}
        produce(broker.bootstrap_servers, changes, [{"value": json.dumps(content).encode()}])
    only = {"scan.startup.mode": "specific-offsets", "scan.startup.specific-offsets": "partition:0,offset:2"}
    found = run(2305, changes, source=only | {"scan.max.pre.fetch.records": "2"})
    assert found.sink.tables == {"mydb.keyed": [{"key1": 1, "key2": 2, "number": 2}]}


@pytest.mark.nightly
@pytest.mark.parametrize("line", [2472, 2488, 2502])
def test_dirty_data_is_tolerated(line, run, rows, broker):
    produce(broker.bootstrap_servers, rows, [{"value": b"{"}, {"value": b'{"id": "8"}'}])
    found = run(line, rows)
    assert [row["id"] for row in found.sink.tables[rows]] == ["7", "8"]
    assert found.progress.malformed == 1


@pytest.mark.nightly
def test_2529_without_a_mapping(run, changes, make_topic, broker):
    for table in ("mydb.mytable1", "mydb.mytable2"):
        make_topic(name=table)
    run(2529, changes)
    assert tables_in(broker, "mydb.mytable1") == ["mytable1"]


@pytest.mark.nightly
def test_2548_a_route_changes_the_tables_name(run, changes, make_topic, broker):
    make_topic(name="mytable")
    run(2548, changes)
    assert tables_in(broker, "mytable") == ["mytable", "mytable"]


@pytest.mark.nightly
@pytest.mark.parametrize("line", [2575, 2593])
def test_a_mapping_of_topics_keeps_the_tables_names(line, run, changes, make_topic, broker):
    make_topic(name="mytable")
    run(line, changes)
    assert tables_in(broker, "mytable") == ["mytable1", "mytable2"]
