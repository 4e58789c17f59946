"""Placeholders for values that PostgreSQL did not send."""

from __future__ import annotations

import base64
import json
from typing import Any

import pyarrow as pa
import pyarrow.types as pt
import pytest

from millrace.errors import MalformedMessageError
from millrace.unavailable_values import (
    PlaceholderSearch,
    is_placeholder,
    may_have_placeholder,
    text_placeholders,
    with_old_values,
)

TEXT = "__debezium_unavailable_value"
DECIMALS = [base64.b64encode(bytes([byte])).decode() for byte in TEXT.encode()]

PLACEHOLDERS = {
    "a text": TEXT,
    "bytes": "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==",
    "an array of texts": [TEXT],
    "an array of bytes": ["X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="],
    "an array of uuids": ["b68a35a7-17ad-35b3-af2a-ae46edb4545a"],
    "an array of integers": list(TEXT.encode()),
    "an array of floats": [float(byte) for byte in TEXT.encode()],
    "an array of booleans": [True] * 28,
    "an array of decimals": DECIMALS,
    "an array of decimals with scales": [{"scale": 0, "value": value} for value in DECIMALS],
    "an hstore": {TEXT: TEXT},
    "an hstore as text": json.dumps({TEXT: TEXT}),
    "a point": {"x": -99999999.0, "y": -99999999.0, "wkb": None, "srid": None},
    "a geometry": {"wkb": "AQEAACDmEAAAAAAA/IPXl8EAAAD8g9eXwQ==", "srid": 4326},
    "a geography": {"wkb": "AQEAACDmEAAADCHn/f9/ZkAYQs77/39WQA==", "srid": 4326},
}
VALUES: dict[str, Any] = {
    "a longer text": f"not {TEXT}",
    "a text that looks like an hstore": f'{{"{TEXT}"',
    "an array of two texts": [TEXT, "a"],
    "an array of fewer integers": list(TEXT.encode())[:-1],
    "an array of fewer booleans": [True] * 27,
    "an array with false": [True] * 27 + [False],
    "an hstore with more": {TEXT: TEXT, "a": "b"},
    "a point elsewhere": {"x": -99999999.0, "y": 1.0},
    "nothing": None,
    "a number": 95,
}


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")], ids=["compact", "spaced"])
@pytest.mark.parametrize("value", PLACEHOLDERS.values(), ids=PLACEHOLDERS.keys())
def test_a_placeholder_of_every_type_is_recognized(value: Any, separators: tuple[str, str]) -> None:
    payload = json.dumps({"after": {"a": value}}, separators=separators).encode()
    assert may_have_placeholder(payload)
    assert is_placeholder(json.loads(payload)["after"]["a"])
    assert PlaceholderSearch().indices([None, b"{}", payload]) == [2]


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_a_value_is_no_placeholder(value: Any) -> None:
    assert not is_placeholder(value)


def test_a_value_is_taken_from_the_old_row() -> None:
    after = {"id": 1, "a": list(TEXT.encode()), "b": TEXT}
    assert with_old_values(after, {"id": 1, "a": [1, 2], "b": None}) == {"id": 1, "a": [1, 2], "b": None}


@pytest.mark.parametrize("before", [None, {"id": 1}, {"id": 1, "a": [TEXT]}])
def test_a_value_that_neither_row_has_is_malformed(before: dict[str, Any] | None) -> None:
    with pytest.raises(MalformedMessageError, match=r"field a: the database did not send the value.*REPLICA IDENTITY"):
        with_old_values({"id": 1, "a": [TEXT]}, before)


def test_columns_that_are_not_read_need_no_value() -> None:
    assert with_old_values({"id": 1, "a": TEXT}, None, {"id"}) == {"id": 1, "a": TEXT}


def test_a_search_for_columns_of_some_types_finds_only_their_placeholders() -> None:
    payloads = {name: json.dumps({"after": {"a": value}}).encode() for name, value in PLACEHOLDERS.items()}

    def found(**kinds: bool) -> set[str]:
        search = PlaceholderSearch(**({"texts": False, "arrays": False, "objects": False} | kinds))
        return {name for name, payload in payloads.items() if search.indices([payload])}

    assert found() == set()
    assert found(texts=True) == {
        *("a text", "bytes", "an array of texts", "an array of bytes", "an hstore", "an hstore as text")
    }
    assert found(objects=True) == {"a point", "a geometry", "a geography"}
    assert found(arrays=True) == {name for name in payloads if "array" in name} | found(texts=True)


@pytest.mark.parametrize("type_", [pa.string(), pa.binary(), pa.int64()], ids=str)
def test_placeholders_of_a_column_are_found_behind_nulls_and_slices(type_):
    texts = [None, "a" * 28, "__debezium_unavailable_value", "", "__debezium_unavailable_value"]
    column = pa.array([None if pt.is_integer(type_) else text for text in texts], pa.string()).cast(type_)
    expected = [] if pt.is_integer(type_) else [2, 4]
    assert text_placeholders(column) == expected
    assert text_placeholders(column.slice(1)) == [index - 1 for index in expected]
    assert text_placeholders(column[:0]) == []
