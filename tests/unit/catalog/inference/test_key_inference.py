"""Columns of keys: those of JSON objects, or one of bytes."""

from __future__ import annotations

import pytest

from millrace.errors import SchemaError
from millrace_catalog.inference import InferenceOptions, InferredKey, JsonInferenceOptions, KeyInference, Position
from millrace_catalog.types import BYTES

ENVELOPE_ADVICE = "which the format json does not read: set key.converter.schemas.enable of the connector to false"


def infer(*keys: bytes | None, **options: object) -> InferredKey:
    inference = KeyInference("orders", JsonInferenceOptions(**options))
    for offset, key in enumerate(keys):
        inference.add(Position(2, offset), key)
    return inference.result()


def columns(key: InferredKey) -> list[str]:
    return [f"{column.name} {column.type}" for column in key.columns]


def test_keys_that_are_objects_have_their_fields_as_columns() -> None:
    key = infer(b'{"id": 1}', None, b"", b'{"id": 1.5, "at": {"x": 1}}', nested="struct")
    assert key.is_json
    assert columns(key) == ["id DOUBLE", "at ROW<x BIGINT>"]
    assert [str(each) for each in key.columns[0].evidence] == [
        "BIGINT since partition 2, offset 0",
        "DOUBLE since partition 2, offset 3",
    ]


def test_messages_without_keys_have_no_columns_of_keys() -> None:
    key = infer(None, b"")
    assert key.is_json
    assert not key.columns


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        (b"user-7", "not JSON: Expecting value at character 0"),
        (b"\x00\x00\x00\x01", "not JSON: Expecting value at character 0"),
        (b"\xff", "not UTF-8: byte 0xff at position 0"),
        (b"42", "expected a JSON object, found 42"),
        (b'"x"', 'expected a JSON object, found "x"'),
        (b"null", "blank or null"),
        (b" ", "blank or null"),
        (b'{"schema":null,"payload":{"id":1}}', f"it has its schema beside it, {ENVELOPE_ADVICE}"),
    ],
)
def test_one_key_that_is_no_object_makes_all_of_them_bytes(key: bytes, reason: str) -> None:
    found = infer(b'{"id": 1}', key, b'{"id": 2}', b"other")
    assert not found.is_json
    assert found.reason == f"the key in partition 2, offset 1: {reason}"
    (column,) = found.columns
    assert (column.name, column.type, column.paths) == ("col", BYTES, ((),))
    assert [str(each) for each in column.evidence] == ["BYTES since partition 2, offset 1"]


def test_the_name_of_that_column_is_an_option() -> None:
    inference = KeyInference("orders", options=InferenceOptions(key_field="raw"))
    inference.add(Position(0, 0), b"x")
    assert columns(inference.result()) == ["raw BYTES"]


def test_fields_that_name_tables_are_those_of_values() -> None:
    assert columns(infer(b'{"id": 1}', table_fields=("db",))) == ["id BIGINT"]


def test_too_many_columns_are_refused() -> None:
    inference = KeyInference("orders", options=InferenceOptions(max_columns=1))
    with pytest.raises(SchemaError, match=r"^table 'orders \(keys\)' has 2 columns"):
        inference.add(Position(0, 0), b'{"a": 1, "b": 2}')
