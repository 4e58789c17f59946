"""Messages of the pipelines' Kafka sink, read by implementations in Java."""

from __future__ import annotations

import pytest

from millrace_catalog.types import parse_schema
from millrace_catalog.types.spark import to_spark_schema
from millrace_cdc.connectors.kafka.messages import MessageSettings, message_value
from support.debezium import fetch_connect
from support.java_readers import read_by_canal, read_by_connect, read_by_flink

pytestmark = pytest.mark.nightly

COLUMNS = (
    "id BIGINT NOT NULL, name STRING, price DECIMAL(12, 2), bought DATE, placed TIMESTAMP(6), seen TIMESTAMP_LTZ(6), "
    "is_set BOOLEAN, tags ARRAY<STRING>, x DOUBLE, content BYTES"
)
SCHEMA = to_spark_schema(parse_schema(COLUMNS))
OLD = (
    '{"id":1,"name":"a \\"b\\" ä","price":12.30,"bought":"2024-02-29","placed":"2024-05-06 07:08:09.123456",'
    '"seen":"2024-05-06 07:08:09.5Z","is_set":true,"tags":["p",null],"x":0.1,"content":"AQL/"}'
).encode()
NEW = (
    b'{"id":1,"name":null,"price":-9999999999.99,"bought":null,"placed":null,"seen":null,"is_set":false,"tags":null,'
    b'"x":-1e300,"content":null}'
)
NONE = b"null"
CHANGES = [("c", NONE, OLD), ("u", OLD, NEW), ("d", NEW, NONE)]


def messages(**settings):
    make = message_value(MessageSettings(**settings), "shop.orders", SCHEMA, ("id",))
    return [make(*change) for change in CHANGES]


@pytest.mark.parametrize("format_", ["debezium-json", "canal-json"])
def test_flink_reads_the_rows(spark, format_):
    found = read_by_flink(spark, format_, f"ROW<{COLUMNS}>", messages(value_format=format_))
    old = (
        '1, a "b" ä, 12.30, 2024-02-29, 2024-05-06T07:08:09.123456, 2024-05-06T07:08:09.500Z, true, [p, null], 0.1, '
        "[1, 2, -1]"
    )
    new = "1, null, -9999999999.99, null, null, null, false, null, -1.0E300, null"
    assert found == [f"+I[{old}]", f"-U[{old}]", f"+U[{new}]", f"-D[{new}]"]


def test_kafka_connect_reads_rows_and_types_by_their_schema(spark):
    jars = fetch_connect()
    insertion, update, deletion = (read_by_connect(spark, jars, each) for each in messages(includes_schema=True))
    assert insertion.startswith(
        'Struct{after=Struct{id=1,name=a "b" ä,price=12.30,bought=19782,placed=1714979289123456,'
    )
    assert "seen=2024-05-06T07:08:09.5Z,is_set=true,tags=[p, null],x=0.1,content=" in insertion
    assert insertion.endswith(",op=c,source=Struct{db=shop,table=orders}}")
    assert ",after=Struct{id=1,price=-9999999999.99,is_set=false,x=-1.0E300},op=u," in update
    assert deletion.startswith("Struct{before=Struct{id=1,price=-9999999999.99,is_set=false,x=-1.0E300},op=d,")


def test_canal_reads_its_packets(spark):
    insertion, update, deletion = read_by_canal(spark, messages(value_format="canal-protobuf"))

    assert [names for names, _ in (insertion, update, deletion)] == [
        {"database": "shop", "table": "orders", "type": type_} for type_ in ("INSERT", "UPDATE", "DELETE")
    ]
    before, after = insertion[1]
    assert before == []
    assert [(each["name"], each["sqlType"], each["mysqlType"], each["value"]) for each in after] == [
        ("id", -5, "bigint", "1"),
        ("name", 12, "text", 'a "b" ä'),
        ("price", 3, "decimal(12,2)", "12.30"),
        ("bought", 91, "date", "2024-02-29"),
        ("placed", 93, "datetime(6)", "2024-05-06 07:08:09.123456"),
        ("seen", 93, "timestamp(6)", "2024-05-06 07:08:09.5Z"),
        ("is_set", -7, "bit(1)", "1"),
        ("tags", 12, "json", '["p",null]'),
        ("x", 8, "double", "0.1"),
        ("content", 2004, "blob", "\x01\x02\xff"),
    ]
    assert [each["index"] for each in after] == list(range(10))
    assert [each["name"] for each in after if each["isKey"]] == ["id"]
    assert not any(each["updated"] for each in after)
    before, after = update[1]
    assert before == insertion[1][1]
    assert [each["name"] for each in after if each["updated"]] == [
        each["name"] for each in after if each["name"] != "id"
    ]
    assert {each["name"]: each["value"] for each in after} == {
        **{each["name"]: None for each in after},
        "id": "1",
        "price": "-9999999999.99",
        "is_set": "0",
        "x": "-1e300",
    }
    assert (deletion[1][0][0]["value"], deletion[1][1]) == ("1", [])
