"""A pipeline of Debezium's changes in Avro, whose schemas a real registry has."""

from __future__ import annotations

from typing import Any

from millrace_cdc import Pipeline
from support.kafka import produce
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


class Changes:
    """Changes that are sent to a topic, each table's by its newest schema."""

    def __init__(self, registry: Any, servers: str, topic: str) -> None:
        self._registry, self._servers, self._topic = registry, servers, topic
        self._schemas: dict[str, tuple[int, Any]] = {}

    def evolve(self, table: str, schema: dict[str, Any]) -> None:
        self._schemas[table] = self._registry.register(f"{self._topic}-{table}", schema), schema

    def send(self, *changes: tuple[str, str, Any, Any]) -> None:
        records = []
        for table, operation, before, after in changes:
            schema_id, schema = self._schemas[table]
            change = {"before": before, "after": after, "source": {"db": "shop", "table": table}, "op": operation}
            records.append({"value": framed(schema_id, plain(schema), change)})
        produce(self._servers, self._topic, [*records, {"value": None}])


def test_tables_follow_the_schemas_that_a_registry_has(spark, connection, broker, registry, make_topic, tmp_path):
    topic = make_topic()
    changes = Changes(registry, broker.bootstrap_servers, topic)
    changes.evolve("orders", ORDERS)
    changes.evolve("customers", CUSTOMERS)
    order = {"id": 1, "day": 19_000, "price": b"\x04\xd2"}
    changes.send(
        ("orders", "r", None, order),
        ("customers", "c", None, {"id": 1, "name": "Ann"}),
        ("orders", "c", None, order | {"id": 2}),
        ("customers", "c", None, {"id": 2, "name": None}),
    )
    pipeline = Pipeline.from_yaml(
        f"""
source:
  type: kafka
  properties.bootstrap.servers: {connection["properties.bootstrap.servers"]}
  topic: {topic}
  scan.startup.mode: earliest-offset
  value.format: debezium-avro-confluent
  debezium-avro-confluent.url: {registry.url}
transform:
  - {{source-table: shop.\\.*, projection: \\*, primary-keys: id}}
sink: {{type: values, print.enabled: false, materialized.in.memory: true}}
"""
    )
    planned = {table.id: {each.name: each.type for each in table.columns} for table in pipeline.plan(spark).tables}
    assert planned == {
        "shop.customers": {"id": "INT", "name": "STRING"},
        "shop.orders": {"id": "INT", "day": "DATE", "price": "DECIMAL(6, 2)"},
    }
    running = pipeline.run(spark, checkpoint_location=str(tmp_path))
    try:
        running.query.processAllAvailable()
        # One schema is new; messages of the old one are still to come
        changes.send(("orders", "d", order | {"id": 2}, None))
        changes.evolve("orders", MORE_ORDERS)
        newer = order | {"id": 2**40, "note": "late"}
        changes.send(
            ("orders", "c", None, newer),
            ("orders", "u", order | {"note": None}, order | {"price": b"\x04\xd3", "note": "dearer"}),
            ("customers", "u", {"id": 2, "name": None}, {"id": 2, "name": "Bob"}),
            ("customers", "d", {"id": 1, "name": "Ann"}, None),
        )
        running.query.processAllAvailable()
        tables, progress = running.sink.tables, running.progress
    finally:
        running.stop()
    tables["shop.orders"].sort(key=lambda row: row["id"])
    assert tables == {
        "shop.orders": [
            {"id": 1, "day": "2022-01-08", "price": 12.35, "note": "dearer"},
            {"id": 2**40, "day": "2022-01-08", "price": 12.34, "note": "late"},
        ],
        "shop.customers": [{"id": 2, "name": "Bob"}],
    }
    assert {name: table.version for name, table in progress.tables.items()} == {"shop.customers": 1, "shop.orders": 3}
    assert progress.malformed == 0
