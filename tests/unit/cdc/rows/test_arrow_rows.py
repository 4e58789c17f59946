"""Rows of JSON as columns of Arrow."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time
from decimal import Decimal

import pyarrow as pa
import pytest

from millrace_cdc.rows.arrow_rows import JsonColumns, RowError

TYPES = {
    "flag": pa.bool_(),
    "small": pa.int32(),
    "big": pa.int64(),
    "real": pa.float64(),
    "price": pa.decimal128(38, 2),
    "day": pa.date32(),
    "at": pa.timestamp("us"),
    "moment": pa.timestamp("us", "UTC"),
    "clock": pa.time64("us"),
    "text": pa.string(),
    "content": pa.binary(),
    "list": pa.list_(pa.int64()),
    "row": pa.struct([("a", pa.int64()), ("day", pa.date32())]),
}
ROW = {
    "flag": True,
    "small": -1,
    "big": 2**63 - 1,
    "real": 2,
    "price": "12345678901234567890.12",
    "day": "2024-02-29",
    "at": "2024-02-29 01:02:03.123456",
    "moment": "2024-02-29 01:02:03.5+02:00",
    "clock": "01:02:03.25",
    "text": 'a "b"\n\u00e4',
    "content": "AAEC",
    "list": [1, None],
    "row": {"a": 1, "day": "2024-02-29"},
}
EXPECTED = ROW | {
    "real": 2.0,
    "price": Decimal("12345678901234567890.12"),
    "day": date(2024, 2, 29),
    "at": datetime(2024, 2, 29, 1, 2, 3, 123456),
    "moment": datetime(2024, 2, 28, 23, 2, 3, 500000, UTC),
    "clock": time(1, 2, 3, 250000),
    "content": b"\x00\x01\x02",
    "row": {"a": 1, "day": date(2024, 2, 29)},
}


def line(row) -> bytes:
    return json.dumps(row, ensure_ascii=False).replace('"12345678901234567890.12"', "12345678901234567890.12").encode()


@pytest.mark.parametrize("others", [{}, {"map": pa.map_(pa.int64(), pa.date32())}], ids=["fast", "exact"])
def test_values_of_all_types(others):
    columns = JsonColumns(pa.schema({**TYPES, **others}.items()))
    assert columns._is_fast == (not others)
    rows = [line({**ROW, "map": {"7": "2024-02-29"}, "unknown": 1}), b"{}"]
    first, second = columns.read(rows).to_pylist()
    assert first == EXPECTED | {name: [(7, date(2024, 2, 29))] for name in others}
    assert set(second.values()) == {None}


def test_what_arrow_refuses_is_read_exactly():
    columns = JsonColumns(pa.schema([("at", pa.timestamp("us"))]))
    assert columns.read([b'{"at":"2024-02-29 01:02:03.123456789"}']).to_pylist() == [
        {"at": datetime(2024, 2, 29, 1, 2, 3, 123456)}
    ]


def test_the_row_that_does_not_fit_is_named():
    columns = JsonColumns(pa.schema([("id", pa.int32()), ("day", pa.date32())]))
    with pytest.raises(RowError, match="column 'day': 'never' is no date32") as caught:
        columns.read([b'{"id":1,"day":null}', b'{"id":2,"day":"never"}'])
    assert caught.value.index == 1
    with pytest.raises(RowError, match="column 'id'"):
        columns.read([b'{"id":3000000000}'])
