"""Control characters in messages do not reach a terminal."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from millrace_cli.tables import cell_text, printable, rows_table


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "NULL"),
        ("plain ü", "plain ü"),
        ("\x1b[2J\r\n\t\u202e", "\\x1b[2J\\r\\n\\t\\u202e"),
        (b"key\xff\n", "key\\xff\\n"),
        (1.5, "1.5"),
        (Decimal("1.50"), "1.50"),
        (datetime.date(2020, 12, 30), "2020-12-30"),
        (datetime.datetime(2020, 12, 30, 6, 0, tzinfo=datetime.UTC), "2020-12-30 06:00:00Z"),
        (datetime.datetime(2020, 12, 30, 6, 0, 0, 120_000, datetime.UTC), "2020-12-30 06:00:00.120Z"),
        (datetime.datetime(2020, 12, 30, 6, 0, 0, 12), "2020-12-30 06:00:00.000012"),
        ([{"a": datetime.date(2020, 12, 30), "ü": None}], '[{"a": "2020-12-30", "ü": null}]'),
    ],
)
def test_values(value: Any, text: str) -> None:
    assert cell_text(value) == text


def test_names_of_columns_are_printable_too() -> None:
    lines = rows_table(pa.table({"a\x1b": ["[bold]x[/bold]"], "b": [None]}), coloured=False)
    assert [line.split() for line in lines] == [["a\\x1b", "b"], ["[bold]x[/bold]", "NULL"]]
    assert printable("a\x1b") == "a\\x1b"


def test_a_column_below_another_one_leaves_80_columns_of_a_terminal_enough(monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    rows = pa.table(
        {
            "count": ["3"],
            "error": ["field id: expected BIGINT at character …"],
            "topic": ["orders"],
            "time (UTC)": ["2026-11-23 06:59:00 to 07:10:00"],
            "samples": ["0:1 of orders-3@71: field id: expected BIGINT at character 7: {}"],
        }
    )
    lines = rows_table(rows, coloured=True, below=("samples", "error"))
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    assert "2026-11-23 06:59:00" in text
    assert "07:10:00" in text
    assert "samples" not in text
    assert text.index("field id") < text.index("0:1 of orders-3@71")
    assert "samples" in rows_table(rows, coloured=False, below=("samples", "error"))[0]
