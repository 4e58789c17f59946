"""Columns named as ``a.b.c`` are read from fields of nested objects."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millrace.contracts import Decoded, Payloads
from millrace_formats.json import JsonFormat, JsonOptions

SCHEMA = pa.schema([("a", pa.string()), ("a.b", pa.int64()), ("a.b.c", pa.string()), ("d.e", pa.timestamp("us"))])
EMPTY = dict.fromkeys(SCHEMA.names)


def decode(schema: pa.Schema, *payloads: bytes | None, **options: Any) -> Decoded:
    decoder = JsonFormat(JsonOptions(**{"flatten": True, **options})).decoder(schema)
    return decoder.decode(Payloads(list(payloads)))


@pytest.mark.parametrize(
    ("payload", "row"),
    [
        (b'{"a": {"b": 1}}', {"a.b": 1}),
        (b' { "a" : { "b" : { "c" : "x" } , "z" : 2 } } ', {"a.b.c": "x"}),
        (b'{"a": {"b": {"c": {"z": 1.50}}}}', {"a.b.c": '{"z":1.50}'}),
        (b'{"a": "text", "d": {"e": "2020-12-30 12:13:14"}}', {"a": "text", "d.e": "2020-12-30T12:13:14"}),
        (b'{"a.b": 3}', {"a.b": 3}),
        (b'{"a": {"b.c": "y"}}', {"a.b.c": "y"}),
        (b'{"a": {"b": 1}, "a.b": null}', {"a.b": 1}),
        (b'{"a.b": null, "a": {"b": 1}}', {"a.b": 1}),
        (b'{"a": {"b": 1}, "a.b": 2}', {"a.b": 2}),
        (b'{"a": {}}', {}),
        (b'{"a": [{"b": 1}]}', {"a": '[{"b":1}]'}),
        ('{"a": {"b": {"c": "ü"}}}'.encode(), {"a.b.c": "ü"}),
        # What only the exact reader takes
        (b'\xef\xbb\xbf{"a": {"b": {"c": "tab\there"}}}', {"a.b.c": "tab\there"}),
        (b'{"a": {"b": "7"}}', {"a.b": 7}),
    ],
)
def test_nested_fields_are_columns(payload: bytes, row: dict[str, Any]) -> None:
    decoded = decode(SCHEMA, payload)
    (found,) = decoded.rows.to_pylist()
    if found["d.e"] is not None:
        found["d.e"] = found["d.e"].isoformat()
    assert found == EMPTY | row
    assert not decoded.errors


@pytest.mark.parametrize("payload", [b'{"a": {"b": 1, "c": "x"}}', b'\xef\xbb\xbf{"a": {"b": 1, "c": "x"}}'])
def test_an_object_is_read_whole_beside_its_flattened_fields(payload: bytes) -> None:
    struct = pa.struct([("b", pa.int64()), ("c", pa.string())])
    read = {"a": {"b": 1, "c": "x"}, "a.b": 1}
    assert decode(pa.schema([("a", struct), ("a.b", pa.int64())]), payload).rows.to_pylist() == [read]
    as_map = decode(pa.schema([("a", pa.map_(pa.string(), pa.string())), ("a.b", pa.int64())]), payload)
    assert as_map.rows.to_pylist() == [{"a": [("b", "1"), ("c", "x")], "a.b": 1}]


def test_what_a_struct_reads_beside_flattened_fields_is_not_rescued() -> None:
    schema = pa.schema([("a", pa.struct([("c", pa.string())])), ("a.b", pa.int64()), ("rest", pa.string())])
    decoded = decode(schema, b'{"a": {"b": 1, "c": "x", "d": 2}}', rescued="rest")
    assert decoded.rows.to_pylist() == [{"a": {"c": "x"}, "a.b": 1, "rest": '{"a.d":2}'}]


def test_malformed_and_empty_messages_are_reported_as_without_flattening() -> None:
    bad = (b"[1]", b"{", b'{"a": {"b": "x"}}', b'{"z": "\xff"}')
    decoded = decode(SCHEMA, bad[0], None, bad[1], b'{"a": {"b": 1}}', b"", *bad[2:], b"null")
    assert [error.index for error in decoded.errors] == [0, 2, 5, 6]
    assert decoded.errors[2].reason.startswith('field a.b: "x" cannot be read as BIGINT')
    assert decoded.rows.column("a.b").to_pylist() == [1]
    assert decoded.message_index is not None
    assert decoded.message_index.to_pylist() == [3]


def test_without_the_option_a_point_is_part_of_a_name() -> None:
    decoded = decode(SCHEMA, b'{"a": {"b": 1}}', flatten=False)
    assert decoded.rows.to_pylist() == [EMPTY | {"a": '{"b":1}'}]
    assert decode(SCHEMA, b'{"a": {"b": 1}}', flatten=False, nested="flatten").rows.to_pylist() == [EMPTY | {"a.b": 1}]


def test_explain_names_the_path_of_messages() -> None:
    text = JsonFormat(JsonOptions(flatten=True)).decoder(SCHEMA).explain()
    assert text == f"each made flat, one by one; then {JsonFormat().decoder(SCHEMA).explain()}"


LEAVES = st.none() | st.integers(-5, 5) | st.text(max_size=3) | st.lists(st.integers(0, 3), max_size=2)
NAMES = st.sampled_from(["a", "b", "c", "ü", '"'])
TREES = st.dictionaries(
    NAMES, st.recursive(LEAVES, lambda inner: st.dictionaries(NAMES, inner, min_size=1, max_size=3)), min_size=1
)


def flat(tree: dict[str, Any], outer: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in tree.items():
        found |= flat(value, f"{outer}{name}.") if isinstance(value, dict) else {outer + name: value}
    return found


@given(TREES)
def test_it_is_as_if_the_message_were_flat(tree: dict[str, Any]) -> None:
    expected = flat(tree)
    schema = pa.schema([(name, pa.string()) for name in expected])
    nested = decode(schema, json.dumps(tree).encode())
    assert nested.rows == decode(schema, json.dumps(expected).encode(), flatten=False).rows
