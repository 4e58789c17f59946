"""Inferred columns read the changes of Canal and Debezium exactly."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from millrace.contracts import Payloads
from millrace_catalog.inference import (
    CanalInferenceOptions,
    CanalReader,
    DebeziumReader,
    InferredTable,
    MessageReader,
    Position,
    TopicInference,
)
from millrace_catalog.types.arrow import to_arrow_schema
from millrace_formats.changelog.canal_json import CanalJsonFormat, CanalOptions
from millrace_formats.changelog.debezium_json import DebeziumJsonFormat, DebeziumOptions


class DatabaseColumn(NamedTuple):
    """A column of MySQL.

    Attributes:
        mysql_type: Its type, as it is declared.
        code: Canal's number of the type.
        texts: The texts that Canal writes for its values.
        value: The value of a text.
    """

    mysql_type: str
    code: int
    texts: st.SearchStrategy[str]
    value: Callable[[str], Any]


def integers(low: int, high: int) -> st.SearchStrategy[str]:
    return st.integers(low, high).map(str)


def plain(places: int, digits: int) -> st.SearchStrategy[str]:
    limit = 10**digits - 1
    return st.integers(-limit, limit).map(lambda number: format(Decimal(number).scaleb(-places), "f"))


def java_float(value: float) -> str:
    return str(np.float32(value))


BYTES = st.binary(max_size=6).map(lambda value: value.decode("latin-1"))
DATES = st.dates(dt.date(1, 1, 1)).map(str)
ZERO_DATE, ZERO_TIMESTAMP = "0000-00-00", "0000-00-00 00:00:00"
TIMES = st.sampled_from(["00:00:00", "12:34:56", "23:59:59.999999", "12:34:56.5", "-12:00:00", "838:59:59"])
TIMESTAMPS = st.datetimes(dt.datetime(1, 1, 1)).map(lambda value: str(value) if value.microsecond else f"{value}.0")
DECIMALS = st.one_of(plain(0, 10), plain(18, 38), plain(30, 37), plain(30, 65))
FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False).map(java_float)
DOUBLES = st.floats(allow_nan=False, allow_infinity=False).map(repr)
TEXTS = st.text(max_size=6)


def boolean(text: str) -> bool:
    return text != "0"


def latin_1(text: str) -> bytes:
    return text.encode("latin-1")


COLUMNS = [
    DatabaseColumn("tinyint(1)", -6, st.sampled_from(["0", "1", "2", "-1"]), boolean),
    DatabaseColumn("bit(1)", -7, st.sampled_from(["0", "1"]), boolean),
    DatabaseColumn("bit(8)", -7, integers(0, 255), Decimal),
    DatabaseColumn("bit(64)", -7, integers(0, 2**64 - 1), Decimal),
    DatabaseColumn("tinyint(3) unsigned", -6, integers(0, 255), Decimal),
    DatabaseColumn("int(11)", 4, integers(-(2**31), 2**31 - 1), Decimal),
    DatabaseColumn("bigint(20) unsigned", -5, integers(0, 2**64 - 1), Decimal),
    DatabaseColumn("serial", -5, integers(0, 2**64 - 1), Decimal),
    DatabaseColumn("decimal", 3, DECIMALS, Decimal),
    DatabaseColumn("decimal(65,30)", 3, DECIMALS, Decimal),
    DatabaseColumn("float", 7, FLOATS, lambda text: Decimal(java_float(float(text)))),
    DatabaseColumn("double", 8, DOUBLES, float),
    DatabaseColumn("binary(4)", 2004, BYTES, latin_1),
    DatabaseColumn("varbinary(16)", -3, BYTES, latin_1),
    DatabaseColumn("mediumblob", 2004, BYTES, latin_1),
    DatabaseColumn("varchar(6)", 12, TEXTS, str),
    DatabaseColumn("mediumtext", 2005, TEXTS, str),
    DatabaseColumn("year(4)", 12, integers(1901, 2155), Decimal),
    DatabaseColumn("date", 91, DATES | st.just(ZERO_DATE), str),
    DatabaseColumn("time(6)", 92, TIMES, str),
    DatabaseColumn("datetime(6)", 93, TIMESTAMPS | st.just(ZERO_TIMESTAMP), str),
]


def normal(value: Any, text: str, column: DatabaseColumn) -> Any:
    """A value that was read, in the form of `DatabaseColumn.value`; what is read as text is its own text."""
    if isinstance(value, str):
        return "text", value
    if isinstance(value, bool | bytes):
        return value
    if isinstance(value, int | Decimal):
        return Decimal(value)
    if isinstance(value, float):
        return Decimal(java_float(value)) if column.code == 7 else value
    return normal_time(str(value)) if isinstance(value, dt.date | dt.time) else value


def normal_time(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def expected(read: Any, text: str, column: DatabaseColumn) -> Any:
    if isinstance(read, str):
        return "text", text
    value = Decimal(text) if column.value is boolean and not isinstance(read, bool) else column.value(text)
    return normal_time(value) if isinstance(value, str) else value


def infer(reader: MessageReader, payloads: list[bytes]) -> InferredTable:
    inference = TopicInference("t", reader)
    for offset, payload in enumerate(payloads):
        inference.add(Position(0, offset), payload)
    return inference.result().tables["t"]


@given(st.sampled_from(["SQL_TYPE", "MYSQL_TYPE"]), st.data())
def test_canals_messages_are_read_exactly_by_their_schema(strategy: Any, data: st.DataObject) -> None:
    columns = data.draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=4))
    types = {f"c{index}": column for index, column in enumerate(columns)}
    row = st.fixed_dictionaries({name: st.none() | column.texts for name, column in types.items()})
    rows = data.draw(st.lists(row, min_size=1, max_size=5))
    declared = {
        "mysqlType": {name: column.mysql_type for name, column in types.items()},
        "sqlType": {name: column.code for name, column in types.items()},
    }
    payloads = [json.dumps({"data": [row], "type": "INSERT", **declared}).encode() for row in rows]
    table = infer(CanalReader("t", CanalInferenceOptions(strategy=strategy)), payloads)

    decoded = CanalJsonFormat(CanalOptions()).decoder(to_arrow_schema(table.schema)).decode(Payloads(payloads))

    assert not decoded.errors, (str(table.schema), decoded.errors)
    for texts, read in zip(rows, decoded.rows.to_pylist(), strict=True):
        for name, text in texts.items():
            if text is None:
                assert read[name] is None
            else:
                column, value = types[name], read[name]
                assert normal(value, text, column) == expected(value, text, column), (str(table.schema), name)


@given(st.sampled_from(COLUMNS), st.data())
def test_canals_types_are_those_of_the_database_where_its_values_fit(
    column: DatabaseColumn, data: st.DataObject
) -> None:
    """STRING holds everything: values that a declared type holds must not become one."""
    if column.mysql_type in ("decimal", "decimal(65,30)", "time(6)", "date", "datetime(6)"):
        return
    text = data.draw(column.texts)
    message = {"data": [{"a": text}], "type": "INSERT", "mysqlType": {"a": column.mysql_type}}
    table = infer(CanalReader("t", CanalInferenceOptions(strategy="MYSQL_TYPE")), [json.dumps(message).encode()])
    is_text = column.mysql_type in ("varchar(6)", "mediumtext")
    assert ("STRING" in str(table.schema) or "VARCHAR" in str(table.schema)) is is_text


JSON_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**37), 10**37),
    st.floats(allow_nan=False, allow_infinity=False),
    TEXTS,
    DATES,
    st.lists(st.integers(-9, 9), max_size=2),
)


@given(st.lists(st.dictionaries(st.sampled_from("abc"), JSON_VALUES, min_size=1), min_size=1, max_size=3))
def test_debeziums_messages_are_read_exactly_by_their_schema(rows: list[dict[str, Any]]) -> None:
    payloads = [json.dumps({"before": None, "after": row, "op": "c"}).encode() for row in rows]
    table = infer(DebeziumReader("t"), payloads)

    decoded = DebeziumJsonFormat(DebeziumOptions()).decoder(to_arrow_schema(table.schema)).decode(Payloads(payloads))

    assert not decoded.errors, (str(table.schema), decoded.errors)
    for row, read in zip(rows, decoded.rows.to_pylist(), strict=True):
        for name, value in row.items():
            assert is_same(value, read[name]), (str(table.schema), name)


def is_same(value: Any, read: Any) -> bool:
    if isinstance(read, str) and not isinstance(value, str):
        return json.loads(read) == value
    if isinstance(read, dt.date):
        return str(read) == value
    if isinstance(read, float):
        return float(value) == read  # an integer beside fractions is a DOUBLE, as in the reference
    return bool(value == read)
