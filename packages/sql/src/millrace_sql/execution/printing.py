"""Results as tables of text, as Flink's client prints them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from millrace.contracts import ROW_KIND_COLUMN
from millrace.wording import counted

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_OP = "op"
_LEAST_WIDTHS = {"boolean": 7, "tinyint": 4, "smallint": 6, "int": 11, "bigint": 20, "date": 10}
_OTHER_WIDTH = 30
_NULL = "<NULL>"


def format_rows(names: Sequence[str], rows: Iterable[Sequence[Any]], max_width: int) -> Iterator[str]:
    """Return the lines of a whole result; columns are as wide as what is in them.

    Args:
        names: The columns.
        rows: The values of the rows.
        max_width: The most that a column takes; longer values are cut.
    """
    texts = [[text_of(value) for value in row] for row in rows]
    if not texts:
        yield "Empty set"
        return
    widths = [
        min(max_width, max(display_width(text) for text in (name, *(row[place] for row in texts))))
        for place, name in enumerate(names)
    ]
    yield from _header(names, widths)
    for row in texts:
        yield _line(row, widths)
    yield _rule(widths)
    yield f"{counted(len(texts), 'row')} in set"


def format_changes(schema: StructType, rows: Iterable[Any], max_width: int) -> Iterator[str]:
    """Return the lines of a stream's result as they come; the first column has the kinds of the rows.

    Args:
        schema: The columns; without `ROW_KIND_COLUMN`, all rows are inserted.
        rows: The rows.
        max_width: The width of columns of text; longer values are cut.
    """
    fields = [field for field in schema if field.name != ROW_KIND_COLUMN]
    names = [_OP, *(field.name for field in fields)]
    widths = [2, *(_width_of(field.name, field.dataType.simpleString(), max_width) for field in fields)]
    yield from _header(names, widths)
    count = 0
    places = [place for place, field in enumerate(schema) if field.name != ROW_KIND_COLUMN]
    kind = next((place for place, field in enumerate(schema) if field.name == ROW_KIND_COLUMN), None)
    for row in rows:
        count += 1
        values = ["+I" if kind is None else row[kind], *(text_of(row[place]) for place in places)]
        yield _line(values, widths)
    yield _rule(widths)
    yield f"Received a total of {counted(count, 'row')}"


def text_of(value: Any) -> str:
    """Return a value as a result shows it."""
    if value is None:
        return _NULL
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, bytes | bytearray):
        return f"x'{bytes(value).hex()}'"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{text_of(key)}={text_of(map_value)}" for key, map_value in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(text_of, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(text_of, value)) + ")"
    return str(value)


def display_width(text: str) -> int:
    """Return the number of columns that a text takes in a terminal."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _width_of(name: str, type_name: str, max_width: int) -> int:
    least = _LEAST_WIDTHS.get(type_name, _OTHER_WIDTH)
    return max(min(least, max_width), min(display_width(name), max_width), 2)


def _header(names: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    yield _rule(widths)
    yield _line(names, widths)
    yield _rule(widths)


def _rule(widths: Sequence[int]) -> str:
    return "+" + "+".join("-" * (width + 2) for width in widths) + "+"


def _line(texts: Sequence[str], widths: Sequence[int]) -> str:
    cells = (_fit(text, width) for text, width in zip(texts, widths, strict=True))
    return "| " + " | ".join(cells) + " |"


def _fit(text: str, width: int) -> str:
    text = text.replace("\n", "\\n").replace("\t", "\\t")
    if display_width(text) > width:
        cut = ""
        for char in text:
            if display_width(cut + char) > width - 3:
                break
            cut += char
        text = cut + "..."[:width]
    return " " * (width - display_width(text)) + text
