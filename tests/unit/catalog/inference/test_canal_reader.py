"""Schemas of canal-json messages, by each strategy."""

from __future__ import annotations

import json

import pytest

from millrace.errors import MessageError, SchemaError
from millrace_catalog.inference import CanalInferenceOptions, CanalReader, InferenceResult
from millrace_catalog.inference.canal_types import mysql_type_reader
from support.cases import CASES
from unit.catalog.inference.inferring import infer_with

CODES = {
    -7: "BOOLEAN", 16: "BOOLEAN", -6: "TINYINT", 5: "SMALLINT", 4: "INT", -5: "BIGINT", 3: "DECIMAL(38, 18)",
    2: "DECIMAL(38, 18)", 7: "FLOAT", 6: "FLOAT", 8: "DOUBLE", -2: "BYTES", -3: "BYTES", -4: "BYTES", 2004: "BYTES",
    91: "DATE", 92: "TIME(0)", 93: "TIMESTAMP(6)", 1: "STRING", 12: "STRING", -1: "STRING", 1111: "STRING",
    2005: "STRING",
}  # fmt: skip


def infer(*messages: dict[str, object], **options: object) -> InferenceResult:
    """Infer the tables of messages, which are updates if they have old rows, and else insertions."""
    reader = CanalReader("orders", CanalInferenceOptions(**options))
    typed = [{"type": "UPDATE" if "old" in message else "INSERT", **message} for message in messages]
    return infer_with(reader, [json.dumps(message).encode() for message in typed])


def schemas(inferred: InferenceResult) -> dict[str, str]:
    return {name: str(table.schema) for name, table in inferred.tables.items()}


@pytest.mark.cases
@pytest.mark.parametrize(
    ("strategy", "schema"),
    [
        ("AUTO", "id STRING, name STRING, description STRING, weight STRING"),
        ("SQL_TYPE", "id INT, name STRING, description STRING, weight FLOAT"),
        ("MYSQL_TYPE", "id INT, name VARCHAR(255), description VARCHAR(512), weight FLOAT"),
    ],
)
def test_the_tables_of_a_real_change_log(strategy: str, schema: str) -> None:
    lines = (CASES / "canal-json" / "data.txt").read_bytes().splitlines()
    inferred = infer_with(CanalReader("t", CanalInferenceOptions(strategy=strategy)), lines)
    assert schemas(inferred) == {"inventory.products2": schema}
    assert inferred.tables["inventory.products2"].primary_key == ("id",)


def test_types_by_jdbc_codes() -> None:
    row = dict.fromkeys(map(str, CODES))
    message = {"data": [row], "sqlType": {str(code): code for code in CODES}, "type": "INSERT"}
    expected = ", ".join(f"`{code}` {type_}" for code, type_ in CODES.items())
    assert schemas(infer(message, strategy="SQL_TYPE")) == {"orders": expected}


def test_a_column_that_the_types_leave_out_is_text() -> None:
    message = {"data": [{"id": "1", "x": "1"}], "sqlType": {"id": 4, "x": None}, "mysqlType": {"id": "int"}}
    assert schemas(infer(message, strategy="SQL_TYPE")) == {"orders": "id INT, x STRING"}
    assert schemas(infer(message, strategy="MYSQL_TYPE")) == {"orders": "id INT, x STRING"}


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("tinyint(1)", "BOOLEAN"),
        ("tinyint(4)", "TINYINT"),
        ("TINYINT UNSIGNED", "SMALLINT"),
        ("smallint(5) unsigned zerofill", "INT"),
        ("mediumint unsigned", "INT"),
        ("int(11)", "INT"),
        ("INTEGER UNSIGNED", "BIGINT"),
        ("bigint", "BIGINT"),
        ("bigint(20) unsigned", "DECIMAL(20, 0)"),
        ("decimal", "DECIMAL(10, 0)"),
        ("decimal(10,2) unsigned", "DECIMAL(10, 2)"),
        ("numeric( 38 , 18 )", "DECIMAL(38, 18)"),
        ("decimal(65,30)", "STRING"),
        ("float", "FLOAT"),
        ("float(7,4)", "DOUBLE"),
        ("double precision", "DOUBLE"),
        ("real", "DOUBLE"),
        ("bit", "BOOLEAN"),
        ("bit(1)", "BOOLEAN"),
        ("bit(9)", "BIGINT"),
        ("bit(64)", "DECIMAL(20, 0)"),
        ("serial", "DECIMAL(20, 0)"),
        ("tinyint(1) unsigned", "SMALLINT"),
        ("tinyint(1) unsigned zerofill", "SMALLINT"),
        ("tinyint unsigned", "SMALLINT"),
        ("smallint unsigned", "INT"),
        ("int unsigned", "BIGINT"),
        ("INT UNSIGNED ZEROFILL", "BIGINT"),
        ("int unsigned(10)", "BIGINT"),
        ("bigint unsigned", "DECIMAL(20, 0)"),
        ("unsigned bigint", "DECIMAL(20, 0)"),
        ("decimal unsigned(10,4)", "DECIMAL(10, 4)"),
        ("decimal(10,4) unsigned", "DECIMAL(10, 4)"),
        ("float unsigned", "FLOAT"),
        ("boolean", "BOOLEAN"),
        ("char(3)", "CHAR(3)"),
        ("char(0)", "STRING"),
        ("varchar(255) character set utf8mb4", "VARCHAR(255)"),
        ("binary(16)", "BINARY(16)"),
        ("varbinary(16)", "VARBINARY(16)"),
        ("longblob", "BYTES"),
        ("longtext", "STRING"),
        ("json", "STRING"),
        ("enum('a(1)','b')", "STRING"),
        ("set('a')", "STRING"),
        ("geometry", "STRING"),
        ("year(4)", "INT"),
        ("date", "DATE"),
        ("time", "TIME(0)"),
        ("time(3)", "TIME(3)"),
        ("datetime", "TIMESTAMP(0)"),
        ("datetime(6)", "TIMESTAMP(6)"),
        ("timestamp(3)", "TIMESTAMP(3)"),
        ("", "STRING"),
        ("()", "STRING"),
    ],
)
def test_types_of_mysql(text: str, type_: str) -> None:
    assert str(mysql_type_reader(timestamp_as_datetime=True, tinyint1_as_boolean=True)(text)) == type_


@pytest.mark.parametrize(
    ("code", "value", "type_"),
    [
        (-7, "1", "BOOLEAN"),
        (-7, "5", "BIGINT"),
        (-6, "255", "DECIMAL(3, 0)"),
        (-5, "18446744073709551615", "DECIMAL(20, 0)"),
        (4, "x", "STRING"),
        (3, "0.123456789012345678", "DECIMAL(38, 18)"),
        (3, "0.1234567890123456789", "STRING"),
        (7, "0.1", "FLOAT"),
        (7, "0.1234567891", "DOUBLE"),
        (-3, "\xff\x00", "BYTES"),
        (-3, "\u0100", "STRING"),
        (91, "2024-02-29", "DATE"),
        (91, "0000-00-00", "STRING"),
        (92, "12:00:00.125", "TIME(3)"),
        (92, "-12:00:00", "STRING"),
        (92, "838:59:59", "STRING"),
        (93, "2024-02-29 12:00:00.0", "TIMESTAMP(6)"),
        (93, "0000-00-00 00:00:00", "STRING"),
    ],
)
def test_a_declared_type_gives_way_to_a_value_that_it_does_not_hold(code: int, value: str, type_: str) -> None:
    message = {"data": [{"a": value}], "sqlType": {"a": code}}
    assert schemas(infer(message, strategy="SQL_TYPE")) == {"orders": f"a {type_}"}


def test_what_options_say_of_mysqls_types() -> None:
    message = {"data": [{"a": "1", "b": None}], "mysqlType": {"a": "tinyint(1)", "b": "timestamp(3)"}}
    assert schemas(infer(message, strategy="MYSQL_TYPE")) == {"orders": "a BOOLEAN, b TIMESTAMP(3)"}
    other = infer(message, strategy="MYSQL_TYPE", tinyint1_as_boolean=False, timestamp_as_datetime=False)
    assert schemas(other) == {"orders": "a TINYINT, b TIMESTAMP_LTZ(3)"}


def test_an_unsigned_tinyint_of_one_digit_is_a_number() -> None:
    message = {"data": [{"a": "5"}], "mysqlType": {"a": "tinyint(1) unsigned"}}
    assert schemas(infer(message, strategy="MYSQL_TYPE")) == {"orders": "a SMALLINT"}


def test_types_widen_as_the_table_changes() -> None:
    inferred = infer(
        {"data": [{"a": "1", "b": "x"}], "sqlType": {"a": 4, "b": 12}},
        {"data": [{"a": "1", "b": "x", "c": None}], "sqlType": {"a": -5, "b": 12, "c": 91}},
        strategy="SQL_TYPE",
    )
    assert schemas(inferred) == {"orders": "a BIGINT, b STRING, c DATE"}
    assert [str(each) for each in inferred.tables["orders"].columns[0].evidence] == [
        "INT since partition 0, offset 0",
        "BIGINT since partition 0, offset 1",
    ]


def test_declared_types_are_nullable_where_a_row_has_null() -> None:
    reader = CanalReader("orders", CanalInferenceOptions(strategy="SQL_TYPE"))
    rows = [{"a": None, "b": "1"}, {"a": "1", "b": "1"}]
    said = reader.read(json.dumps({"type": "INSERT", "data": rows, "sqlType": {"a": 4, "b": 4}}).encode())
    assert said is not None
    assert {name: str(type_) for name, type_ in said.columns.items()} == {"a": "INT", "b": "INT NOT NULL"}


def test_values_tell_types_by_default() -> None:
    message = {"data": [{"a": "2020-12-30", "b": "x"}, {"a": "2020-12-30 10:00:00"}], "old": [{"b": None}, {}]}
    assert schemas(infer(message)) == {"orders": "a STRING, b STRING"}
    assert schemas(infer({"data": [{"a": "2020-12-30"}]})) == {"orders": "a DATE"}
    assert schemas(infer({"data": [{"a": "2020-12-30"}]}, primitive_as_string=True)) == {"orders": "a STRING"}
    declared = {"data": [{"a": "1"}], "sqlType": {"a": 4}}
    assert schemas(infer(declared, strategy="SQL_TYPE", primitive_as_string=True)) == {"orders": "a STRING"}


def test_statements_and_messages_without_rows_say_nothing() -> None:
    truncation = {"type": "TRUNCATE", "isDdl": True, "data": None}
    inferred = infer({"isDdl": True, "data": [{"a": 1}], "type": "ALTER"}, {"data": []}, truncation)
    assert not inferred.tables
    assert inferred.empty_messages == 3


def test_only_the_chosen_databases_and_tables_count() -> None:
    messages = [
        {"data": [{"a": "1"}], "database": database, "table": table}
        for database, table in [("shop", "items"), ("shop2", "items"), ("shop", "users"), (None, "items")]
    ]
    inferred = infer(*messages, database_include="shop", table_include="it.*")
    assert list(inferred.tables) == ["shop.items"]
    assert inferred.empty_messages == 3


def test_a_changed_primary_key_is_refused() -> None:
    with pytest.raises(SchemaError) as failure:
        infer(
            {"data": [{"a": "1", "b": "2"}], "pkNames": ["a"]},
            {"data": [{"a": "1", "b": "2"}], "pkNames": None},
            {"data": [{"a": "1", "b": "2"}], "pkNames": ["a", "b"]},
        )
    assert str(failure.value) == (
        "topic 'orders': table 'orders' has the primary key (a) at partition 0, offset 0, and (a, b) at partition 0, "
        "offset 2; primary keys cannot change: read the topic from after that change"
    )


@pytest.mark.parametrize(
    ("message", "options", "problem"),
    [
        ({"data": 7}, {}, "field data: expected an array of rows, found 7"),
        ({"data": [7]}, {}, "field data[0]: expected a row, found 7"),
        ({"data": None}, {}, "field data: expected an array of rows, found null"),
        ({"data": [{"a": "1"}], "type": None}, {}, "field type: the message has no operation"),
        ({"data": [{"a": "1"}], "old": []}, {}, "field old: it has 0 rows, but data has 1"),
        ({"data": [{"a": "1"}], "old": "x"}, {}, 'field old: expected an array of rows, found "x"'),
        ({"data": [{"a": "1"}], "pkNames": [1]}, {}, "field pkNames: expected names of columns, found an array"),
        (
            {"data": [{"a": "1"}]},
            {"strategy": "SQL_TYPE"},
            "field sqlType is missing, which declares the types: set canal-json.infer-schema.strategy to AUTO",
        ),
        (
            {"data": [{"a": "1"}], "mysqlType": []},
            {"strategy": "MYSQL_TYPE"},
            "field mysqlType: expected an object, found an array",
        ),
        ({"data": [{"a": "1"}]}, {"table_include": "x"}, "field table is missing, by which messages are filtered"),
    ],
)
def test_what_is_no_change_is_malformed(message: dict[str, object], options: dict[str, object], problem: str) -> None:
    with pytest.raises(MessageError) as failure:
        infer(message, **options)
    assert f"topic 'orders', partition 0, offset 0: {problem}. It begins with" in str(failure.value)
    assert "Set canal-json.ignore-parse-errors to true" in str(failure.value)
