"""A pipeline of Debezium's changes in Avro, whose schemas a real registry has, into folders of parquet files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql.functions import expr

from millrace_cdc import Pipeline
from support.kafka import consume, produce
from unit.formats.avro.datums import framed, plain


def envelope(table: str, **columns: Any) -> dict[str, Any]:
    """Return the schema of a table's changes, as Debezium registers it."""
    row = {
        "type": "record",
        "name": "Value",
        "fields": [{"name": name, "type": type_} for name, type_ in columns.items()],
    }
    source = {
        "type": "record",
        "name": "Source",
        "fields": [{"name": "db", "type": "string"}, {"name": "table", "type": ["null", "string"]}],
    }
    named = {"before": ["null", row], "after": ["null", "Value"], "source": source, "op": "string"}
    fields = [{"name": name, "type": type_} for name, type_ in named.items()]
    return {"type": "record", "name": "Envelope", "namespace": f"shop.{table}", "fields": fields}


DAY = {"type": "int", "connect.name": "io.debezium.time.Date"}
PRICE = {
    "type": "bytes",
    "logicalType": "decimal",
    "precision": 6,
    "scale": 2,
    "connect.name": "org.apache.kafka.connect.data.Decimal",
    "connect.parameters": {"scale": "2", "connect.decimal.precision": "6"},
}
ORDERS = envelope("orders", id="int", day=DAY, price=PRICE)
MORE_ORDERS = envelope("orders", id="long", day=DAY, price=PRICE, note=["null", "string"])
CUSTOMERS = envelope("customers", id="int", name=["null", "string"])
REFUSED = envelope("refused", row_kind="string")


class Changes:
    """Changes that are sent to a topic, each table's by its newest schema."""

    def __init__(self, registry: Any, servers: str, topic: str) -> None:
        self._registry, self._servers, self._topic = registry, servers, topic
        self._schemas: dict[str, tuple[int, Any]] = {}

    def evolve(self, table: str, schema: dict[str, Any]) -> None:
        self._schemas[table] = self._registry.register(f"{self._topic}-{table}", schema), schema

    def send(self, *changes: tuple[str, str, Any, Any]) -> list[bytes]:
        """Send changes and a tombstone, every other one with its schema in a header; return the former's values."""
        records: list[dict[str, Any]] = []
        for number, (table, operation, before, after) in enumerate(changes):
            schema_id, schema = self._schemas[table]
            change = {"before": before, "after": after, "source": {"db": "shop", "table": table}, "op": operation}
            value = framed(schema_id, plain(schema), change)
            in_header = {"value": value[5:], "headers": [("__value_schema_id", value[:5])]}
            records.append(in_header if number % 2 == 0 else {"value": value})
        produce(self._servers, self._topic, [*records, {"value": None}])
        return [record["value"] for record in records]


def test_tables_follow_the_schemas_of_a_registry_and_one_that_the_sink_refuses_is_paused(
    spark, connection, broker, registry, make_topic, tmp_path
):
    topic, dead = make_topic(), make_topic()
    changes = Changes(registry, broker.bootstrap_servers, topic)
    changes.evolve("orders", ORDERS)
    changes.evolve("customers", CUSTOMERS)
    changes.evolve("refused", REFUSED)
    order = {"id": 1, "day": 19_000, "price": b"\x04\xd2"}
    refused = changes.send(
        ("orders", "r", None, order),
        ("customers", "c", None, {"id": 1, "name": "Ann"}),
        ("orders", "c", None, order | {"id": 2}),
        ("customers", "c", None, {"id": 2, "name": None}),
        ("refused", "c", None, {"row_kind": "first"}),
    )[-1:]
    pipeline = Pipeline.from_yaml(f"""
source:
  type: kafka
  properties.bootstrap.servers: {connection["properties.bootstrap.servers"]}
  topic: {topic}
  scan.startup.mode: earliest-offset
  scan.max.pre.fetch.records: 0
  value.format: debezium-avro-confluent
  debezium-avro-confluent.url: {registry.url}
sink: {{type: parquet, path: '{tmp_path / "tables"}'}}
pipeline:
  table.failure.behavior: pause
  dirty-data.collector: {{type: topic, topic: {dead}}}
""")
    planned = {table.id: {each.name: each.type for each in table.columns} for table in pipeline.plan(spark).tables}
    assert planned == {
        "shop.customers": {"id": "INT", "name": "STRING"},
        "shop.orders": {"id": "INT", "day": "DATE", "price": "DECIMAL(6, 2)"},
        "shop.refused": {"row_kind": "STRING"},
    }
    running = pipeline.run(spark, checkpoint_location=str(tmp_path / "checkpoint"))
    try:
        running.query.processAllAvailable()
        # Messages of an old schema may come after those of a new one
        changes.send(("orders", "d", order | {"id": 2}, None))
        changes.evolve("orders", MORE_ORDERS)
        newer = order | {"id": 2**40, "note": "late"}
        refused += changes.send(
            ("orders", "c", None, newer),
            ("orders", "u", order | {"note": None}, order | {"price": b"\x04\xd3", "note": "dearer"}),
            ("customers", "u", {"id": 2, "name": None}, {"id": 2, "name": "Bob"}),
            ("customers", "d", {"id": 1, "name": "Ann"}, None),
            ("refused", "c", None, {"row_kind": "second"}),
        )[-1:]
        running.query.processAllAvailable()
        progress = running.progress
    finally:
        running.stop()

    def rows(table, *columns):
        found = _stored(spark, tmp_path / "tables" / table).selectExpr("row_kind", *columns)
        return [tuple(row) for row in found.collect()]

    assert rows("shop.orders", "id", "CAST(day AS STRING)", "CAST(price AS STRING)", "note") == [
        ("+I", 1, "2022-01-08", "12.34", None),
        ("+I", 2, "2022-01-08", "12.34", None),
        ("-D", 2, "2022-01-08", "12.34", None),
        ("+I", 2**40, "2022-01-08", "12.34", "late"),
        ("-U", 1, "2022-01-08", "12.34", None),
        ("+U", 1, "2022-01-08", "12.35", "dearer"),
    ]
    assert rows("shop.customers", "id", "name") == [
        ("+I", 1, "Ann"),
        ("+I", 2, None),
        ("-U", 2, None),
        ("+U", 2, "Bob"),
        ("-D", 1, "Ann"),
    ]
    versions = {name: progress.tables[name].version for name in ("shop.customers", "shop.orders")}
    assert versions == {"shop.customers": 1, "shop.orders": 3}
    assert progress.malformed == 0
    # The table waits, and its messages are kept as they came
    assert list(progress.paused) == ["shop.refused"]
    assert "has a column 'row_kind' of its own" in progress.paused["shop.refused"]
    assert progress.collected == {"shop.refused": 2}
    assert [message.value() for message in consume(broker.bootstrap_servers, dead)] == refused
    assert not (tmp_path / "tables" / "shop.refused").exists()


def _stored(spark: Any, path: Path) -> Any:
    # +U sorts before -U
    return spark.read.parquet(str(path)).orderBy("__offset", expr("row_kind = '+U'"))
