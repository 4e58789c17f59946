"""Pipelines into tables of Delta Lake: they have the last row of each key, whatever fails."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.errors import StreamingQueryException

from millrace.errors import MessageError, SchemaError
from millrace_catalog.sinks.table_sink import TableSinkError
from millrace_cdc import Pipeline
from millrace_cdc.connectors.delta.sink import DeltaPipelineSink
from support.kafka import produce
from support.pipeline_sinks import Table, make_sink, micro_batch

ORDERS = Table("shop.orders", "id BIGINT, name STRING, n INT", ("id",))


@pytest.fixture
def sink(tmp_path) -> DeltaPipelineSink:
    return make_sink(DeltaPipelineSink, path=str(tmp_path))


def rows(tmp_path, name="orders"):
    table = DeltaTable(tmp_path / "shop" / name).to_pyarrow_table()
    return sorted((tuple(row.values()) for row in table.to_pylist()), key=repr)


def test_rows_are_merged_by_key_once_and_columns_follow(spark, sink, tmp_path):
    log = Table("shop.log", "line STRING")
    sink.check(spark)
    sink.apply(spark, [ORDERS.change(), log.change()])
    sink.apply(spark, [ORDERS.change(), log.change()])
    changes = [
        ("shop.orders", None, {"id": 1, "name": "a", "n": 1}),
        ("shop.log", None, {"line": "x"}),
        ("shop.orders", None, {"id": 2, "name": "b", "n": 2}),
        ("shop.log", None, {"line": "x"}),
        ("shop.orders", {"id": 2}, {"id": 3, "name": "c", "n": 3}),
        ("shop.orders", None, {"id": 4, "name": "d", "n": 4}),
        ("shop.orders", {"id": 4}, None),
    ]
    for _ in range(2):
        sink.write(micro_batch(spark, 0, [ORDERS, log], changes, tasks=2))
    assert rows(tmp_path) == [(1, "a", 1), (3, "c", 3)]
    assert rows(tmp_path, "log") == [("x",), ("x",)]
    version = DeltaTable(tmp_path / "shop" / "orders").version()

    wider = Table("shop.orders", "id BIGINT, name STRING, n STRING, at TIMESTAMP(6)", ("id",))
    added = [wider.change("add.column", "at"), wider.change("alter.column.type", "n")]
    sink.apply(spark, added)
    sink.apply(spark, added)
    # One micro-batch that had failed between its tables
    again = make_sink(DeltaPipelineSink, path=str(tmp_path))
    again.write(micro_batch(spark, 1, [log], [("shop.log", None, {"line": "y"})]))
    second = [("shop.orders", {"id": 1}, {"id": 1, "n": "many", "at": "2024-05-06 07:08:09.5"})]
    again.write(micro_batch(spark, 1, [wider, log], [*second, ("shop.log", None, {"line": "y"})]))
    assert rows(tmp_path) == [(1, None, "many", datetime(2024, 5, 6, 7, 8, 9, 500_000)), (3, "c", "3", None)]
    assert rows(tmp_path, "log") == [("x",), ("x",), ("y",)]
    assert DeltaTable(tmp_path / "shop" / "orders").version() == version + 2

    again.write(micro_batch(spark, 2, [wider], [("shop.orders", None, {"id": 9})], truncated=["shop.orders"]))
    again.write(micro_batch(spark, 3, [log], [], truncated=["shop.log"]))
    assert rows(tmp_path) == [(9, None, None, None)]
    assert rows(tmp_path, "log") == []


def test_a_micro_batch_that_failed_for_want_of_a_key_goes_on_with_the_key_of_a_rule(spark, tmp_path):
    text = """
source:
  type: values
  changes: |
    +I shop.orders {"id": 1, "n": 1}
    MORE
sink: {type: delta, path: PATH}
""".replace("PATH", str(tmp_path))

    def run(more: str, rules: str = "") -> None:
        pipeline = Pipeline.from_yaml(text.replace("MORE", more) + rules)
        pipeline.run(spark, checkpoint_location=str(tmp_path / "checkpoint"), once=True).await_termination()

    run("")
    update = '-U shop.orders {"id": 1, "n": 1}\n    +U shop.orders {"id": 1, "n": 2}'
    with pytest.raises(StreamingQueryException, match="primary-keys"):
        run(update)
    run(update, "transform: [{source-table: shop.orders, primary-keys: id}]")
    assert rows(tmp_path) == [(1, 2)]


@pytest.mark.nightly
def test_values_are_exact_and_tables_have_their_layout(spark, sink, tmp_path):
    columns = (
        "id DECIMAL(38, 10), d DOUBLE, bin BYTES, day DATE, `at` TIMESTAMP(6), zoned TIMESTAMP_LTZ(6), "
        "list ARRAY<BYTES>, "
        "row ROW<a DECIMAL(4, 2), b STRING>, m MAP<STRING, INT>, `odd \"'é` STRING, flag BOOLEAN, tiny TINYINT"
    )
    table = Table("shop.values", columns, ("id", "odd \"'é"))
    sink.apply(spark, [table.change(partition_keys=("day",), options={"comment": "all", "delta.appendOnly": "false"})])
    row = {
        "id": "1234567890123456789012345678.0123456780",
        "d": 5e-324,
        "bin": "AAH/",
        "day": "0001-01-01",
        "at": "2024-02-29T23:59:59.123456",
        "zoned": "2024-05-06 07:08:09.5+02:00",
        "list": ["AA==", None],
        "row": {"a": "1.5", "b": None},
        "m": {"x": 1, "y": None},
        "odd \"'é": "\u0000\U0001f600",
        "flag": True,
        "tiny": -128,
    }
    for batch in range(2):
        sink.write(micro_batch(spark, batch, [table], [(table.id, None, {**row, "d": [5e-324, "Infinity"][batch]})]))
    assert rows(tmp_path, "values") == [
        (
            Decimal(row["id"]),
            float("inf"),
            b"\0\1\xff",
            date(1, 1, 1),
            datetime(2024, 2, 29, 23, 59, 59, 123456),
            datetime(2024, 5, 6, 5, 8, 9, 500_000, tzinfo=UTC),
            [b"\0", None],
            {"a": Decimal("1.50"), "b": None},
            [("x", 1), ("y", None)],
            "\u0000\U0001f600",
            True,
            -128,
        )
    ]
    metadata = DeltaTable(tmp_path / "shop" / "values").metadata()
    assert (metadata.partition_columns, metadata.description) == (["day"], "all")


@pytest.mark.nightly
def test_the_log_recommends_to_compact_a_table_with_many_small_files(spark, tmp_path, caplog):
    sink = make_sink(DeltaPipelineSink, path=str(tmp_path), **{"sink.small-files.warning": "2"})
    log = Table("shop.log", "line STRING")
    sink.apply(spark, [log.change()])
    for batch in range(4):
        sink.write(micro_batch(spark, batch, [log], [("shop.log", None, {"line": "x"})]))
    folder = tmp_path / "shop" / "log"
    assert caplog.messages == [
        f"table 'shop.log' has {count} small files, each of which readers open: compact it, by DeltaTable('{folder}')"
        f".optimize.compact() in Python, or OPTIMIZE delta.`{folder}` in Spark with Delta's plugin"
        for count in (2, 4)
    ]
    DeltaTable(folder).optimize.compact()
    assert len(DeltaTable(folder).file_uris()) == 1


def test_a_plan_finds_tables_that_are_there(spark, sink, tmp_path):
    sink.apply(spark, [ORDERS.change()])
    tables = [ORDERS, Table("shop.new", "id INT"), Table("shop.v", "v VARIANT")]
    found = sink.destinations(lambda: pytest.fail("it needs no session"), [each.planned() for each in tables])
    assert [(each.name, each.exists) for each in found] == [
        (f"{tmp_path}/shop/{name}", name == "orders") for name in ("orders", "new", "v")
    ]
    assert ["VARIANT" in (each.problem or "") for each in found] == [False, False, True]


def test_what_cannot_be_written_is_refused(spark, sink, tmp_path):
    with pytest.raises(SchemaError, match=r"table 'shop.orders' should be in .*shop/orders, which holds none"):
        sink.write(micro_batch(spark, 0, [ORDERS], [(ORDERS.id, None, {"id": 1})]))
    with pytest.raises(SchemaError, match=r"'shop.v' has a VARIANT, which sink delta does not write"):
        sink.apply(spark, [Table("shop.v", "v VARIANT").change()])
    with pytest.raises(TableSinkError, match=r"table 'shop.orders' in .* could not be prepared: .*nonsense"):
        sink.apply(spark, [ORDERS.change(options={"delta.nonsense": "1"})])


def test_updates_of_a_default_replica_identity_are_upserts_that_keep_what_was_not_sent(
    spark, broker, make_topic, tmp_path
):
    topic = make_topic()
    text = f"""
source:
  type: kafka
  properties.bootstrap.servers: {broker.bootstrap_servers}
  topic: {topic}
  value.format: debezium-json
  scan.startup.mode: earliest-offset
transform:
  - {{source-table: shop.orders, projection: '*', primary-keys: id}}
sink: {{type: SINK}}
"""

    def change(op: str, after: dict[str, Any]) -> dict[str, bytes]:
        message = {"before": None, "after": after, "op": op, "source": {"db": "shop", "table": "orders"}}
        return {"value": json.dumps(message).encode()}

    def run(sink: str, name: str) -> Any:
        pipeline = Pipeline.from_yaml(text.replace("SINK", sink))
        running = pipeline.run(spark, checkpoint_location=str(tmp_path / name), once=True)
        running.await_termination()
        return running.sink

    unsent = {"big": "__debezium_unavailable_value", "ints": list(b"__debezium_unavailable_value")}
    first = {"id": 1, "n": 1, "big": "x" * 9, "ints": [1, 2]}
    delta = f"delta, path: {tmp_path}"
    produce(broker.bootstrap_servers, topic, [change("c", first), change("c", first | {"id": 2})])
    run(delta, "delta")
    # A row of an earlier micro-batch, one of this micro-batch, and one that comes with its values first
    changes = [("u", first | unsent | {"n": 2}), ("u", first | {"id": 2, "n": 2, "big": "new"})]
    changes += [("u", first | unsent | {"id": 2, "n": 3}), ("c", first | {"id": 3}), ("u", first | unsent | {"id": 3})]
    produce(broker.bootstrap_servers, topic, [change(*each) for each in changes])
    run(delta, "delta")
    expected = [(1, 2, "x" * 9, [1, 2]), (2, 3, "new", [1, 2]), (3, 1, "x" * 9, [1, 2])]
    assert rows(tmp_path) == expected
    memory = run("values, print.enabled: false, materialized.in.memory: true", "memory").tables["shop.orders"]
    assert sorted(tuple(row.values()) for row in memory) == expected
    with pytest.raises(MessageError, match=r"set 'sink\.updates-without-old-row' of the sink to write"):
        run(f"parquet, path: {tmp_path}/files", "parquet")
