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
        ([{"a": datetime.date(2020, 12, 30), "ü": None}], '[{"a": "2020-12-30", "ü": null}]'),
    ],
)
def test_values(value: Any, text: str) -> None:
    assert cell_text(value) == text


def test_names_of_columns_are_printable_too() -> None:
    lines = rows_table(pa.table({"a\x1b": ["[bold]x[/bold]"], "b": [None]}), coloured=False)
    assert [line.split() for line in lines] == [["a\\x1b", "b"], ["[bold]x[/bold]", "NULL"]]
    assert printable("a\x1b") == "a\\x1b"
