"""Schemas of debezium-json messages."""

from __future__ import annotations

import json

import pytest

from millrace.errors import MessageError
from millrace_catalog.inference import DebeziumInferenceOptions, DebeziumReader, InferenceResult
from support.cases import CASES
from unit.catalog.inference.inferring import infer_with


def infer(*messages: object, **options: object) -> InferenceResult:
    reader = DebeziumReader("orders", DebeziumInferenceOptions(**options))
    return infer_with(reader, [json.dumps(message).encode() for message in messages])


def schemas(inferred: InferenceResult) -> dict[str, str]:
    return {name: str(table.schema) for name, table in inferred.tables.items()}


@pytest.mark.cases
@pytest.mark.parametrize(
    ("file", "schema_include"), [("mysql-schema-exclude.txt", False), ("mysql-schema-include.txt", True)]
)
def test_the_tables_of_a_real_change_log(file: str, schema_include: bool) -> None:
    lines = (CASES / "debezium-json" / file).read_bytes().splitlines()
    inferred = infer_with(DebeziumReader("t", DebeziumInferenceOptions(schema_include=schema_include)), lines)
    assert schemas(inferred) == {"inventory.products": "id BIGINT, name STRING, description STRING, weight DOUBLE"}
    assert inferred.tables["inventory.products"].messages == len(lines)
    assert inferred.tables["inventory.products"].primary_key == ()


def test_rows_before_and_after_count() -> None:
    inferred = infer(
        {"op": "r", "after": {"id": 1, "a": "2020-12-30"}},
        {"op": "u", "before": {"id": 1, "a": "soon"}, "after": {"id": 1.5, "b": True}},
        {"op": "d", "before": {"c": [1]}, "after": None},
        {"op": "t"},
    )
    assert schemas(inferred) == {"orders": "id DOUBLE, a STRING, b BOOLEAN, c ARRAY<BIGINT>"}
    assert inferred.empty_messages == 1


def test_tables_have_the_names_of_their_source() -> None:
    row = {"op": "c", "after": {"id": 1}}
    inferred = infer(
        {**row, "source": {"db": "shop", "schema": "public", "table": "items"}},
        {**row, "source": {"db": "shop", "schema": "", "table": "items"}},
        {**row, "source": {"table": "items"}},
        {**row, "source": None},
    )
    assert list(inferred.tables) == ["shop.public.items", "shop.items", "items", "orders"]


def test_primitives_as_strings() -> None:
    inferred = infer({"op": "c", "after": {"id": 1, "a": [1], "o": {"x": 1}}}, primitive_as_string=True)
    assert schemas(inferred) == {"orders": "id STRING, a ARRAY<STRING>, o STRING"}


@pytest.mark.parametrize(
    ("message", "schema_include", "problem"),
    [
        ({"id": 1}, False, "field op: the message has no operation: records that Debezium has flattened"),
        ({"op": "x"}, False, 'field op: expected one of c, r, u, d, t, found "x"'),
        ({"op": "d"}, False, "field before: it is null, though the operation is 'd', a deletion: the database does"),
        ({"op": "u", "after": None}, False, "field before: it is null, though the operation is 'u', an update: the"),
        ({"op": "d", "before": {}}, False, "field before: it has no columns, though the operation is 'd', a deletion"),
        ({"id": 2, "amount": 5, "ts_ms": 1}, False, "field op: the message has no operation: records that Debezium"),
        ({"op": "c", "after": 7}, False, "field after: expected an object, found 7"),
        ({"op": "c", "after": {"a": 1}, "source": "x"}, False, 'field source: expected an object, found "x"'),
        (
            {"payload": {"op": "c"}},
            False,
            "the change is in the field payload: set debezium-json.schema-include to true",
        ),
        ({"op": "c"}, True, "field payload is missing: set debezium-json.schema-include to false"),
    ],
)
def test_what_is_no_change_is_malformed(message: object, schema_include: bool, problem: str) -> None:
    with pytest.raises(MessageError) as failure:
        infer(message, schema_include=schema_include)
    assert f"topic 'orders', partition 0, offset 0: {problem}" in str(failure.value)
    assert ". It begins with" in str(failure.value)
    assert "Set debezium-json.ignore-parse-errors to true" in str(failure.value)
    assert not infer(message, schema_include=schema_include, ignore_parse_errors=True).tables
