"""Messages of Debezium and Canal as a sink writes them."""

from __future__ import annotations

import json

import pytest

from millrace_catalog.types import parse_schema
from millrace_catalog.types.spark import to_spark_schema
from millrace_cdc.connectors.kafka.messages import MessageSettings, message_key, message_value

SCHEMA = to_spark_schema(parse_schema("id BIGINT, name STRING, price DECIMAL(10, 2), tags ARRAY<STRING>"))
OLD, NEW = b'{"id":1,"name":"a"}', b'{"id":1,"name":"b"}'
NONE = b"null"


def value(table: str = "shop.orders", key: tuple[str, ...] = (), **settings):
    return message_value(MessageSettings(**settings), table, SCHEMA, key)


def test_an_update_of_debezium_is_one_message_with_both_rows():
    assert value()("u", OLD, NEW) == (
        b'{"before":{"id":1,"name":"a"},"after":{"id":1,"name":"b"},"op":"u","source":{"db":"shop","table":"orders"}}'
    )


@pytest.mark.parametrize(
    ("table", "full", "source"),
    [
        ("orders", False, {"table": "orders"}),
        ("shop.orders", False, {"db": "shop", "table": "orders"}),
        ("shop.orders", True, {"schema": "shop", "table": "orders"}),
        ("erp.shop.orders", False, {"db": "shop", "table": "orders"}),
        ("erp.shop.orders", True, {"db": "erp", "schema": "shop", "table": "orders"}),
    ],
)
def test_source_names_the_parts_of_a_tables_id_as_the_reference_maps_them(table, full, source):
    message = json.loads(value(table, has_full_table_id=full)("c", NONE, NEW))
    assert message["source"] == source


def test_a_schema_is_that_of_kafka_connect():
    message = json.loads(value(includes_schema=True)("d", OLD, NONE))
    assert message["payload"] == {
        "before": {"id": 1, "name": "a"},
        "after": None,
        "op": "d",
        "source": {"db": "shop", "table": "orders"},
    }
    before, after, operation, source = message["schema"]["fields"]
    assert [field["field"] for field in (before, after, operation, source)] == ["before", "after", "op", "source"]
    assert (
        before["fields"]
        == after["fields"]
        == [
            {"type": "int64", "optional": True, "field": "id"},
            {"type": "string", "optional": True, "field": "name"},
            {"type": "double", "optional": True, "field": "price"},
            {"type": "array", "items": {"type": "string", "optional": True}, "optional": True, "field": "tags"},
        ]
    )


@pytest.mark.parametrize(
    ("operation", "before", "after", "start"),
    [
        ("c", NONE, NEW, '{"old":null,"data":[{"id":1,"name":"b"}],"type":"INSERT"'),
        ("u", OLD, NEW, '{"old":[{"id":1,"name":"a"}],"data":[{"id":1,"name":"b"}],"type":"UPDATE"'),
        ("d", OLD, NONE, '{"old":null,"data":[{"id":1,"name":"a"}],"type":"DELETE"'),
    ],
)
def test_messages_of_canal(operation, before, after, start):
    made = value(key=("id",), value_format="canal-json")(operation, before, after).decode()
    assert made == start + ',"database":"shop","table":"orders","pkNames":["id"]}'


def test_keys_hold_the_primary_key_in_its_order():
    row = b'{"name":"a, \\"b\\"","id":7,"price":12.30,"tags":null}'
    assert message_key("json", ("price", "id"))(row) == b'{"price":12.30,"id":7}'
    assert message_key("csv", ("id", "name", "tags"))(row) == b'7,"a, ""b""",'
    assert message_key("json", ())(row) is None
