"""Messages that are arrays of rows, as Flink reads them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from millrace.contracts import Decoded, Payloads
from millrace_formats.json import JsonFormat, JsonOptions

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string())])


def decode(*messages: bytes | None, schema: pa.Schema = SCHEMA, **options: Any) -> Decoded:
    """Decode messages twice: from the first array on, a decoder looks for them in all messages."""
    decoder = JsonFormat(JsonOptions(**options)).decoder(schema)
    first, second = (decoder.decode(Payloads(messages)) for _ in range(2))
    assert first.rows.equals(second.rows)
    assert first.errors == second.errors
    assert indexes(first, messages) == indexes(second, messages)
    return first


def indexes(decoded: Decoded, messages: tuple[bytes | None, ...]) -> list[int]:
    return list(range(len(messages))) if decoded.message_index is None else decoded.message_index.to_pylist()


def test_each_row_of_an_array_is_a_row_of_its_message() -> None:
    messages = (b'{"a":1}', b'[{"a":2,"b":"x"},{"a":3}]', None, b"[]", b'[{"a":4}]', b'{"a":5}')
    decoded = decode(*messages)
    assert not decoded.errors
    assert decoded.rows.to_pylist() == [
        {"a": 1, "b": None},
        {"a": 2, "b": "x"},
        {"a": 3, "b": None},
        {"a": 4, "b": None},
        {"a": 5, "b": None},
    ]
    assert decoded.message_index is not None
    assert decoded.message_index.type == pa.int32()
    assert decoded.message_index.to_pylist() == [0, 1, 1, 4, 5]


def test_arrays_alone() -> None:
    decoded = decode(b'[{"a":1},null,{"a":2}]', b"[null]", b'[{"a":"3"}]')
    assert decoded.rows.column("a").to_pylist() == [1, 2, 3]
    assert decoded.message_index is not None
    assert decoded.message_index.to_pylist() == [0, 0, 2]


def test_digits_and_texts_of_rows_are_exact() -> None:
    schema = pa.schema([("d", pa.decimal128(38, 18)), ("b", pa.string())])
    number = "12345678901234567890.123456789012345678"
    rows = decode(b'[{"d":%s,"b":"x\ty"}]' % number.encode(), schema=schema).rows.to_pylist()
    assert [(str(row["d"]), row["b"]) for row in rows] == [(number, "x\ty")]


def test_a_malformed_row_makes_its_message_malformed() -> None:
    decoded = decode(b'[{"a":1}]', b'[{"a":1},{"a":"x"},{"a":"y"}]', b'[{"a":2}', b'[{"a":"z"}]', b"[7]", b'{"a":3}')
    assert [(error.index, error.reason.split(":")[0]) for error in decoded.errors] == [
        (1, "row 2 of its 3 rows"),
        (2, "not JSON"),
        (3, "field a"),
        (4, "expected a JSON object, found 7"),
    ]
    assert decoded.rows.column("a").to_pylist() == [1, 3]
    assert decoded.message_index is not None
    assert decoded.message_index.to_pylist() == [0, 5]


def test_malformed_rows_are_skipped_one_by_one() -> None:
    messages = (b'[{"a":1},7,{"a":2}]', b'[{"a":3}', b'[[{"a":4}],{"a":5}]')
    decoded = decode(*messages, ignore_parse_errors=True)
    assert not decoded.errors
    assert decoded.rows.column("a").to_pylist() == [1, 2, 5]


def test_a_null_in_a_column_without_nulls_makes_the_message_malformed() -> None:
    schema = pa.schema([pa.field("a", pa.int64(), nullable=False)])
    decoded = decode(b'[{"a":1},{"a":null}]', b'{"a":2}', schema=schema, ignore_parse_errors=True)
    assert [error.index for error in decoded.errors] == [0]
    assert decoded.rows.column("a").to_pylist() == [2]


def test_rows_are_flattened_and_their_other_fields_rescued() -> None:
    schema = pa.schema([("x.y", pa.int64()), ("rest", pa.string())])
    message = b'[{"x":{"y":1},"z":2},{"x":{"y":3,"w":4}}]'
    decoded = decode(message, schema=schema, flatten=True, rescued="rest")
    assert decoded.rows.to_pylist() == [{"x.y": 1, "rest": '{"z":2}'}, {"x.y": 3, "rest": '{"x.w":4}'}]


def test_rows_of_several_tables() -> None:
    options: dict[str, Any] = {"table_fields": ("t",), "table_include": "orders"}
    messages = (b'[{"t":"orders","a":1},{"t":"users","a":"no number"},{"t":"orders","a":2}]', b'{"t":"orders","a":3}')
    assert decode(*messages, **options).rows.column("a").to_pylist() == [1, 2, 3]
    (error,) = decode(b'[{"t":"orders","a":1},{"a":2}]', **options).errors
    assert error.reason.startswith("row 2 of its 2 rows: field t: expected a value")


@pytest.mark.parametrize("type_", [pa.map_(pa.int32(), pa.string()), pa.list_(pa.int32())])
def test_columns_without_a_fast_reader(type_: pa.DataType) -> None:
    decoded = decode(b'[{"a":null},{"a":null}]', schema=pa.schema([("a", type_)]))
    assert decoded.rows.num_rows == 2
