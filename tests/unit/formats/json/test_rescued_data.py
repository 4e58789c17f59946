"""Fields that have no column are kept in one of their own."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millrace.contracts import Decoded, Payloads
from millrace.errors import SchemaError
from millrace_formats.json import JsonFormat, JsonOptions

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("left", pa.string()),
        ("s", pa.struct([("a", pa.int64()), ("t", pa.struct([("b", pa.string())]))])),
        ("text", pa.string()),
        ("list", pa.list_(pa.struct([("x", pa.int64())]))),
    ]
)
FLAT = pa.schema([("a.b", pa.int64()), ("a.c.d", pa.string()), ("e", pa.string()), ("left", pa.string())])


def decode(schema: pa.Schema, *payloads: bytes | None, **options: Any) -> Decoded:
    return JsonFormat(JsonOptions(rescued="left", **options)).decoder(schema).decode(Payloads(list(payloads)))


@pytest.mark.parametrize(
    ("payload", "left"),
    [
        (b'{"id": 1}', None),
        (b'{"id": 1, "new": [1, {"a": 2.50}]}', {"new": [1, {"a": 2.5}]}),
        (b'{"s": {"a": 1, "new": 2, "t": {"b": "x", "newer": null, "newest": {}}}}', {"s.new": 2, "s.t.newest": {}}),
        (b'{"text": {"kept": "as text"}, "list": [{"x": 1, "y": 2}]}', None),
        (b'{"new": null, "left": 1}', {"left": 1}),
        (b'{"new": "tab\there"}', {"new": "tab\there"}),
        ('{"ü": "ä"}'.encode(), {"ü": "ä"}),
        (b'{"s": null, "new": 1}', {"new": 1}),
    ],
)
def test_what_has_no_column_is_kept(payload: bytes, left: Any) -> None:
    decoded = decode(SCHEMA, payload)
    assert decoded.rows.schema == SCHEMA
    (text,) = decoded.rows.column("left").to_pylist()
    assert (None if text is None else json.loads(text)) == left


@pytest.mark.parametrize(
    ("payload", "left"),
    [
        (b'{"a": {"b": 1, "c": {"d": "x"}}, "e": {"f": 1}}', None),
        (b'{"a": {"b": 1, "z": 2, "c": {"d": "x", "z": 3}}}', {"a.z": 2, "a.c.z": 3}),
        (b'{"a": 7, "a.b": 1}', {"a": 7}),
        (b'{"a": {"c": [1]}}', {"a.c": [1]}),
    ],
)
def test_flattened_columns_are_known_by_their_paths(payload: bytes, left: Any) -> None:
    (text,) = decode(FLAT, payload, flatten=True).rows.column("left").to_pylist()
    assert (None if text is None else json.loads(text)) == left


def test_rows_stay_beside_what_is_left_of_them() -> None:
    decoded = decode(
        SCHEMA, b'{"id": 1, "a": 1}', None, b"{", b'{"id": 2}', b'{"id": "x", "b": 1}', b'{"id": 3, "c": 1}'
    )
    assert decoded.rows.select(["id", "left"]).to_pylist() == [
        {"id": 1, "left": '{"a":1}'},
        {"id": 2, "left": None},
        {"id": 3, "left": '{"c":1}'},
    ]
    assert [error.index for error in decoded.errors] == [2, 4]
    assert decode(SCHEMA).rows.num_rows == 0


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (pa.schema([("id", pa.int64())]), "there is no column 'left'; add it to the schema, as a STRING"),
        (pa.schema([("id", pa.int64()), ("left", pa.int64())]), "must be a STRING that may be NULL, not BIGINT"),
        (
            pa.schema([pa.field("id", pa.int64()), pa.field("left", pa.string(), False)]),
            "must be a STRING that may be NULL, not STRING NOT NULL",
        ),
        (pa.schema([("left", pa.string())]), "format json needs at least one column"),
    ],
)
def test_a_schema_that_cannot_hold_it_is_refused(schema: pa.Schema, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        decode(schema)


VALUES = st.recursive(
    st.integers(-3, 3) | st.text(max_size=2),
    lambda inner: st.dictionaries(st.text("abc.", max_size=2), inner, max_size=3),
)


@given(st.dictionaries(st.text("abc", min_size=1, max_size=2), VALUES), st.sets(st.sampled_from("abc")))
def test_nothing_is_lost_and_nothing_is_there_twice(message: dict[str, Any], columns: set[str]) -> None:
    schema = pa.schema([(name, pa.string()) for name in sorted(columns | {"id"})] + [("left", pa.string())])
    (row,) = decode(schema, json.dumps(message).encode()).rows.to_pylist()
    left = json.loads(row.pop("left") or "{}")
    assert left == {name: value for name, value in message.items() if name not in row}
    assert {name for name, value in row.items() if value is not None} == row.keys() & message.keys()
