"""Primary keys of tables from the keys of messages."""

from __future__ import annotations

import json
import logging

import pyarrow as pa
import pytest

from millrace.errors import SchemaError
from millrace_catalog.inference import DebeziumInferenceOptions
from millrace_catalog.inference.options import CanalInferenceOptions
from millrace_cdc.runtime.change_parser import ChangeParser
from millrace_cdc.runtime.message_keys import KeyWarnings
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.table_schema import SourceTableSchema
from millrace_cdc.runtime.task_reports import Place

SETTINGS = ParserSettings("debezium-json", DebeziumInferenceOptions(), has_primary_keys=True)
SCHEMA = {"type": "struct", "fields": [{"type": "int64", "field": "id"}], "optional": False, "name": "s.orders.Key"}


def message(table="orders", **row):
    source = {"db": "s", "table": table}
    return json.dumps({"before": None, "after": row or {"id": 1, "v": 2}, "op": "c", "source": source}).encode()


def encoded(key):
    return None if key is None else json.dumps(key).encode()


def parse(parser, *messages):
    """Parse messages, each with its key, in one batch."""
    rows = [
        {"topic": "t", "partition": 0, "offset": n, "timestamp": None, "key": encoded(key), "value": value}
        for n, (key, value) in enumerate(messages)
    ]
    types = pa.schema(
        {
            "topic": pa.string(),
            "partition": pa.int32(),
            "offset": pa.int64(),
            "timestamp": pa.timestamp("us", "UTC"),
            "key": pa.binary(),
            "value": pa.binary(),
        }
    )
    list(parser.parse([pa.RecordBatch.from_pylist(rows, types)]))
    return parser.report


@pytest.mark.parametrize(
    ("key", "columns"),
    [
        ({"id": 1}, ("id",)),
        ({"v": 2, "id": 1}, ("v", "id")),
        ({"schema": SCHEMA, "payload": {"id": 1}}, ("id",)),
        ({"schema": None, "payload": {"id": 1}}, ("id",)),
    ],
)
def test_a_table_has_the_columns_of_its_messages_keys(key, columns):
    (required,) = parse(ChangeParser(SETTINGS, {}), (key, message())).tables["s.orders"].required
    assert required.primary_key == columns


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        (None, "its messages have no key"),
        ({"schema": None, "payload": None}, "its messages have no key"),
        ({"uuid": 1, "id": 1}, "its rows have no column uuid, which the key of its messages names"),
        ("a", 'the key of its messages is no object with columns: expected a JSON object, found "a"'),
    ],
)
def test_a_table_without_the_columns_names_itself_once_and_others_go_on(caplog, key, problem):
    parser = ChangeParser(SETTINGS, {})
    report = parse(parser, (key, message("log")), ({"id": 1}, message()), (key, message("log")))
    assert [report.tables[name].required[0].primary_key for name in ("s.log", "s.orders")] == [None, ("id",)]
    warnings = KeyWarnings()
    with caplog.at_level(logging.WARNING, "millrace.pipelines"):
        for _ in range(2):
            warnings.check([report], {"s.orders": ("id",), "s.log": ()})
        KeyWarnings().check([report], {"s.log": ("id",)})
    assert caplog.messages == [
        f"table 's.log' has no primary key: {problem}. Give it one by 'primary-keys' of a transform"
    ]


def test_messages_that_fit_their_table_are_parsed_fast_only_with_its_key():
    tables = {"s.orders": SourceTableSchema("id BIGINT, v BIGINT", ("id",))}
    report = parse(ChangeParser(SETTINGS, tables), ({"id": 1}, message()), ({"id": 2}, message(id=2, v=3)))
    assert report.tables["s.orders"].fits
    with pytest.raises(SchemaError, match=r"another primary key: \(v\) instead of \(id\)"):
        parse(ChangeParser(SETTINGS, tables), ({"v": 2}, message()))


def test_a_table_that_began_without_a_key_stays_so():
    tables = {"s.orders": SourceTableSchema("id BIGINT, v BIGINT", ())}
    report = parse(ChangeParser(SETTINGS, tables), ({"id": 1}, message()))
    assert "it began without one" in report.tables["s.orders"].key_problem


def test_a_key_that_the_value_names_counts():
    settings = ParserSettings("canal-json", CanalInferenceOptions(), has_primary_keys=True)
    value = {"type": "INSERT", "database": "s", "table": "orders", "data": [{"id": "1", "v": "2"}], "pkNames": ["v"]}
    (change,) = ChangeParser(settings, {}).changes(Place("t", 0, 0), json.dumps(value).encode(), b'{"id": 1}')
    assert change.primary_key == ("v",)
