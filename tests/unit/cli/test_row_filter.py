"""The language of --where, on rows of all kinds of columns."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest

from millrace.contracts import HEADERS
from millrace_cli.errors import CommandError
from millrace_cli.row_filter import parse_row_filter

ROWS = pa.table(
    {
        "id": pa.array([0, 1, 2, 3], pa.int32()),
        "amount": [1.5, None, 99.0, 120.5],
        "price": pa.array([Decimal("0.10"), Decimal("5.00"), None, Decimal("12.34")], pa.decimal128(10, 2)),
        "country": ["de", "fr", None, "it's"],
        "paid": [True, False, None, True],
        "at": pa.array([dt.datetime(2026, 1, day, 12, tzinfo=dt.UTC) for day in (1, 2, 3, 4)]),
        "day": [dt.date(2026, 1, day) for day in (1, 2, 3, 4)],
        "value": [b"a", b"b", b"c", b"\xff"],
        "shop": [{"name": "x"}, {"name": "y"}, None, {"name": "z"}],
        "a.b": [1, 2, 3, 4],
        "tags": pa.array([[("k", "v")], [], None, [("k", "w")]], pa.map_(pa.string(), pa.string())),
        "headers": pa.array([[{"key": "t", "value": b"1"}], [], [], [{"key": "t", "value": b"2"}]], HEADERS),
    }
)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("id = 1", [1]),
        ("1 < id", [2, 3]),
        ("id >= 2.5", [3]),
        ("amount > 100 OR country = 'fr'", [1, 3]),
        ("amount > 1 and not amount > 100", [0, 2]),
        # NOT of NULL is NULL, which keeps no row
        ("NOT amount > 100", [0, 2]),
        ("amount > 100 OR amount IS NULL AND id = 0", [3]),
        ("(amount > 100 OR amount IS NULL) AND id <> 3", [1]),
        ("country IS NOT NULL", [0, 1, 3]),
        ("country IN ('de', 'it''s')", [0, 3]),
        ("country NOT IN ('de', 'it''s')", [1]),
        ("id BETWEEN 1 AND 2 AND id != 2", [1]),
        ("id NOT BETWEEN 1 AND 2", [0, 3]),
        ("country LIKE '%t%' OR country LIKE '_e'", [0, 3]),
        ("country NOT RLIKE '^[df]'", [3]),
        ("price = 0.1 OR price > 12", [0, 3]),
        ("paid", [0, 3]),
        ("NOT paid OR paid = true", [0, 1, 3]),
        ("at >= '2026-01-03 12:00:00'", [2, 3]),
        ("at > '2026-01-03T12:00:00Z' OR day < '2026-01-02'", [0, 3]),
        ("value = 'b'", [1]),
        ("shop.name = 'y'", [1]),
        ("a.b = 4 OR `a.b` = 1", [0, 3]),
        ("tags['k'] = 'w'", [3]),
        ("headers['t'] = '1' OR id = 3 AND headers['x'] IS NULL", [0, 3]),
    ],
)
def test_rows_are_kept_where_the_condition_is_true(text: str, ids: list[int]) -> None:
    assert parse_row_filter(text).apply(ROWS)["id"].to_pylist() == ids


@pytest.mark.parametrize(
    ("text", "position", "problem"),
    [
        ("", 1, "found the end"),
        ("id >", 5, "found the end"),
        ("id = 1 AND", 11, "found the end"),
        ("upper(country) = 'DE'", 6, "functions are not supported"),
        ("id + 1 = 2", 4, "arithmetic is not supported"),
        ('country = "de"', 11, "text is quoted as 'de'"),
        ("country = 'de", 11, "close the text with '"),
        ("country = de ORDER BY id", 14, "found 'ORDER'"),
        ("countri = 'de'", 1, "there is no column countri; did you mean country?"),
        ("id = 1 AND nothing = 1", 12, "the columns are id, amount"),
        ("shop.street = 'y'", 1, "there is no field 'street' in it; its fields are name"),
        ("id['k'] = 'a'", 1, "column id is no map"),
        ("country > 1", 11, "column country is STRING, no number: quote the value, as in '1'"),
        ("id = 'a'", 6, "column id is INT, no text"),
        ("id = true", 6, "no truth value"),
        ("id", 1, "column id is INT: compare it with ="),
        ("at = 'now'", 6, "column at is TIMESTAMP, and 'now' is none"),
        ("1 = 1", 1, "expected a column on one side"),
        ("id LIKE '1'", 1, "LIKE and RLIKE are for text"),
        ("country RLIKE '('", 15, "no regular expression"),
        ("country = id", 9, "STRING with INT cannot be compared"),
    ],
)
def test_a_mistake_is_shown_at_its_place(text: str, position: int, problem: str) -> None:
    with pytest.raises(CommandError) as caught:
        parse_row_filter(text).apply(ROWS)
    first, shown, caret = caught.value.message.split("\n")
    assert first.startswith(f"--where, character {position}: ")
    assert problem in first
    assert (shown.strip(), caret) == (text.strip(), "  " + " " * (position - 1) + "^")
