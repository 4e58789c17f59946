"""Conversions of types to Spark's and Arrow's, and types without a counterpart."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql import types as sql

from millrace.errors import SchemaError
from millrace_catalog.types import parse_schema
from millrace_catalog.types.arrow import from_arrow_schema, to_arrow_schema
from millrace_catalog.types.json_schema import to_json_schema
from millrace_catalog.types.spark import from_spark_schema, to_spark_schema
from millrace_catalog.types.spark_ddl import spark_ddl

ALL = (
    "a BOOLEAN, b TINYINT, c SMALLINT, d INT, e BIGINT NOT NULL, f DECIMAL(10, 2), g FLOAT, h DOUBLE, i CHAR(3), "
    "j VARCHAR(3), k STRING, l BINARY(3), m BYTES, n DATE, o TIME(3), p TIMESTAMP(3), q TIMESTAMP_LTZ(3), "
    "r TIMESTAMP_TZ(3), s ARRAY<INT NOT NULL>, t MAP<STRING, INT NOT NULL>, u ROW<a INT NOT NULL, b ARRAY<INT>>"
)


def test_types_as_sparks() -> None:
    assert to_spark_schema(parse_schema(f"{ALL}, v VARIANT, w TIME(9)")).simpleString() == (
        "struct<a:boolean,b:tinyint,c:smallint,d:int,e:bigint,f:decimal(10,2),g:float,h:double,i:string,j:string,"
        "k:string,l:binary,m:binary,n:date,o:time(3),p:timestamp_ntz,q:timestamp,r:timestamp,s:array<int>,"
        "t:map<string,int>,u:struct<a:int,b:array<int>>,v:variant,w:time(6)>"
    )
    assert [field.nullable for field in to_spark_schema(parse_schema("a INT, b INT NOT NULL"))] == [True, False]


def test_types_as_arrows() -> None:
    types = {field.name: str(field.type) for field in to_arrow_schema(parse_schema(ALL))}
    assert types == {
        "a": "bool", "b": "int8", "c": "int16", "d": "int32", "e": "int64", "f": "decimal128(10, 2)", "g": "float",
        "h": "double", "i": "string", "j": "string", "k": "string", "l": "binary", "m": "binary", "n": "date32[day]",
        "o": "time64[ns]", "p": "timestamp[us]", "q": "timestamp[us, tz=UTC]", "r": "timestamp[us, tz=UTC]",
        "s": "list<element: int32 not null>", "t": "map<string, int32>",
        "u": "struct<a: int32 not null, b: list<element: int32>>",
    }  # fmt: skip


def test_sparks_types_as_ours() -> None:
    known = "a INT NOT NULL, b DECIMAL(10, 2), c STRING, d TIMESTAMP(6), e TIMESTAMP_LTZ(6), f TIME(3), g VARIANT"
    schema = parse_schema(f"{known}, h ROW<i ARRAY<INT NOT NULL>, j MAP<STRING NOT NULL, BYTES>>")
    assert from_spark_schema(to_spark_schema(schema)) == schema
    lengths = sql.StructType([sql.StructField("c", sql.CharType(3)), sql.StructField("v", sql.VarcharType(5))])
    assert str(from_spark_schema(lengths)) == "c CHAR(3), v VARCHAR(5)"


def test_arrows_types_as_ours() -> None:
    fields = {
        "a": pa.large_string(), "b": pa.large_binary(), "c": pa.time32("ms"), "d": pa.timestamp("ns"),
        "e": pa.timestamp("s", "Europe/Berlin"), "f": pa.large_list(pa.int8()), "g": pa.null(),
    }  # fmt: skip
    assert str(from_arrow_schema(pa.schema(list(fields.items())))) == (
        "a STRING, b BYTES, c TIME(3), d TIMESTAMP(9), e TIMESTAMP_LTZ(0), f ARRAY<TINYINT>, g NULL"
    )


def test_what_has_no_counterpart_names_its_column() -> None:
    with pytest.raises(SchemaError, match=r"^column v: VARIANT has no type in Arrow; read it as STRING$"):
        to_arrow_schema(parse_schema("v VARIANT"))
    interval = sql.StructType([sql.StructField("x", sql.DayTimeIntervalType())])
    with pytest.raises(SchemaError, match=r"^column `a.b`: column x: Spark's type interval day to second is not supp"):
        from_spark_schema(sql.StructType([sql.StructField("a.b", interval)]))
    with pytest.raises(SchemaError, match=r"^column d: Arrow's type decimal128\(5, -2\) is not supported$"):
        from_arrow_schema(pa.schema([("d", pa.decimal128(5, -2))]))
    with pytest.raises(SchemaError, match=r"^column u: Arrow's type uint8 is not supported$"):
        from_arrow_schema(pa.schema([("u", pa.uint8())]))


def test_spark_ddl() -> None:
    text = (
        "id INT NOT NULL, `a.b` ARRAY<VARCHAR(3)>, r ROW<at TIMESTAMP(3), z TIMESTAMP_LTZ(9) NOT NULL>, b BYTES, "
        "m MAP<STRING NOT NULL, DECIMAL(10, 2)>, t TIME(9)"
    )
    assert spark_ddl(parse_schema(text)) == (
        "`id` INT NOT NULL, `a.b` ARRAY<STRING>, `r` STRUCT<`at`: TIMESTAMP_NTZ, `z`: TIMESTAMP NOT NULL>, "
        "`b` BINARY, `m` MAP<STRING, DECIMAL(10, 2)>, `t` TIME(6)"
    )


def test_json_schema() -> None:
    types = parse_schema("id BIGINT, a ARRAY<DOUBLE>, r ROW<x BOOLEAN>, b STRING, d DATE, m MAP<STRING, INT>").types
    paths = {"id": ("id",), "a": ("o", "a"), "r": ("o", "r"), "b": ("both",), "d": ("both", "d"), "m": ("m",)}
    described = to_json_schema("orders", [(paths[name], type_) for name, type_ in types.items()])
    assert described["title"] == "orders"
    assert described["properties"] == {
        "id": {"type": ["integer", "null"]},
        "o": {
            "type": ["object", "null"],
            "properties": {
                "a": {"type": ["array", "null"], "items": {"type": ["number", "null"]}},
                "r": {"type": ["object", "null"], "properties": {"x": {"type": ["boolean", "null"]}}},
            },
        },
        "both": {},
        "m": {"type": ["object", "null"], "additionalProperties": {"type": ["integer", "null"]}},
    }
