"""Messages of Debezium and Canal as a sink writes them."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from millrace_catalog.inference import DebeziumInferenceOptions, DebeziumReader
from millrace_catalog.types import Column, Schema, parse_schema, with_nullability
from millrace_catalog.types.spark import to_spark_schema
from millrace_cdc.connectors.kafka.messages import MessageSettings, message_key, message_value
from millrace_cdc.rows.row_conversion import row_converter

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
    row = b'{"id":1,"name":"a","price":12.30,"tags":["x"]}'
    message = json.loads(value(includes_schema=True)("d", row, NONE))
    assert message["payload"] == {
        "before": {"id": 1, "name": "a", "price": "BM4=", "tags": ["x"]},
        "after": None,
        "op": "d",
        "source": {"db": "shop", "table": "orders"},
    }
    assert message["schema"]["name"] == "shop.orders.Envelope"
    before, after, operation, source = message["schema"]["fields"]
    assert [field["field"] for field in (before, after, operation, source)] == ["before", "after", "op", "source"]
    price = {
        "type": "bytes",
        "optional": True,
        "name": "org.apache.kafka.connect.data.Decimal",
        "version": 1,
        "parameters": {"scale": "2", "connect.decimal.precision": "10"},
        "field": "price",
    }
    assert (
        before["fields"]
        == after["fields"]
        == [
            {"type": "int64", "optional": True, "field": "id"},
            {"type": "string", "optional": True, "field": "name"},
            price,
            {"type": "array", "items": {"type": "string", "optional": True}, "optional": True, "field": "tags"},
        ]
    )


REAL: dict[str, str] = dict(
    json.loads(line)
    for line in (Path(__file__).parents[2] / "catalog" / "inference" / "debezium_messages.jsonl")
    .read_text()
    .splitlines()
)
OTHERS = {"nn", "t3", "ti", "ts3", "bit8", "pt", "js", "jb", "u", "m"}
"""Columns whose types have another name in Spark: NUMERIC without a size, times and TIMESTAMP(3), texts with names."""


def test_what_debezium_writes_is_written_as_debezium_does():
    real = json.loads(REAL["types-updated"])
    reader = DebeziumReader("t", DebeziumInferenceOptions(schema_include=True))
    change = reader.parse(REAL["types-updated"].encode())
    schema = Schema(tuple(Column(name, with_nullability(type_, name != "id")) for name, type_ in change.types.items()))
    convert = row_converter(schema)
    before, after = (msgspec.json.encode(convert(row)) for row in change.rows[0])
    settings = MessageSettings(includes_schema=True, has_full_table_id=True)
    made = json.loads(message_value(settings, change.table, to_spark_schema(schema), ("id",))("u", before, after))

    for side in ("before", "after"):
        row = made["payload"][side]
        assert {name: row[name] for name in row if name not in OTHERS} == {
            name: value for name, value in real["payload"][side].items() if name not in OTHERS
        }
        fields, real_fields = (
            {field["field"]: field for field in each["schema"]["fields"][side == "after"]["fields"]}
            for each in (made, real)
        )
        same = [name for name in fields if name not in (*OTHERS, "mo", "tz", "iv")]
        assert [fields[name] for name in same] == [real_fields[name] for name in same]
    assert made["payload"]["op"] == real["payload"]["op"]
    assert made["payload"]["source"].items() <= real["payload"]["source"].items()


@pytest.mark.parametrize(
    ("type_", "given", "made"),
    [
        ("DATE", '"1969-12-31"', -1),
        ("TIMESTAMP(6)", '"1969-12-31 23:59:59.999999"', -1),
        ("TIMESTAMP_LTZ(6)", '"2024-05-06 07:08:09.120000+02:00"', "2024-05-06T05:08:09.12Z"),
        ("TIME(3)", '"00:00:01.5"', 1500),
        ("TIME(6)", '"00:00:01.5"', 1_500_000),
        ("DECIMAL(38, 0)", "-12345678901234567890123456789012345678", "9rZPCQ/9zOw7tm+vIccMsg=="),
        ("DECIMAL(5, 2)", "0", "AA=="),
        ("DECIMAL(5, 2)", "-1.28", "gA=="),
        ("DECIMAL(5, 2)", "1.28", "AIA="),
        ("ARRAY<DATE>", '["1970-01-02",null]', [1, None]),
        ("MAP<STRING, DATE>", '{"a":"1970-01-02"}', {"a": 1}),
        ("ROW<d DATE, n INT>", '{"d":"1970-01-02","n":1}', {"d": 1, "n": 1}),
    ],
)
def test_values_with_a_schema_are_those_of_its_types(type_, given, made):
    schema = to_spark_schema(parse_schema(f"c {type_}"))
    make = message_value(MessageSettings(includes_schema=True), "t", schema, ())
    row = f'{{"c":{given}}}'.encode()
    assert json.loads(make("c", NONE, row))["payload"]["after"] == {"c": made}
    assert json.loads(make("c", NONE, b'{"c":null}'))["payload"]["after"] == {"c": None}


@pytest.mark.parametrize(
    ("operation", "before", "after", "start"),
    [
        ("c", NONE, NEW, '{"old":null,"data":[{"id":1,"name":"b"}],"type":"INSERT"'),
        ("u", OLD, NEW, '{"old":[{"id":1,"name":"a"}],"data":[{"id":1,"name":"b"}],"type":"UPDATE"'),
        ("u", NONE, NEW, '{"old":null,"data":[{"id":1,"name":"b"}],"type":"UPDATE"'),
        ("d", OLD, NONE, '{"old":null,"data":[{"id":1,"name":"a"}],"type":"DELETE"'),
    ],
)
def test_messages_of_canal(operation, before, after, start):
    made = value(key=("id",), value_format="canal-json")(operation, before, after).decode()
    assert made == start + ',"database":"shop","table":"orders","pkNames":["id"]}'
    made = value(key=(), value_format="canal-json")(operation, before, after).decode()
    assert made == start + ',"database":"shop","table":"orders","pkNames":[]}'


def test_keys_hold_the_primary_key_in_its_order():
    row = b'{"name":"a, \\"b\\"","id":7,"price":12.30,"tags":null}'
    assert message_key("json", ("price", "id"))(row) == b'{"price":12.30,"id":7}'
    assert message_key("csv", ("id", "name", "tags"))(row) == b'7,"a, ""b""",'
    assert message_key("json", ())(row) is None
