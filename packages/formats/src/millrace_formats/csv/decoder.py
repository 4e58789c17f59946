"""The csv decoder: Arrow's reader for plain lines, the csv module for quoted ones, the exact reader for all others."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from millrace_formats.csv.exact_reader import CsvExactReader
from millrace_formats.csv.joined_messages import Joined
from millrace_formats.csv.line_classifier import LineSorter
from millrace_formats.csv.options import CsvOptions
from millrace_formats.csv.text_columns import text_column
from millrace_formats.shared.fallback_decoder import FallbackDecoder, FastRows, PayloadList
from millrace_formats.shared.message_order import merge_by_message


class CsvDecoder(FallbackDecoder):
    """Reads lines of separated values into rows.

    Every message takes one of three paths, with the same result. Arrow splits, all at once, the lines whose quotes, if
    any, enclose whole values and hold no others: without line breaks each message is one line, so none can take
    another's place. Python's csv module splits most lines with other quotes, also at once; its rows are believed only
    when there are as many as messages, each of which starts a row. Columns are then converted as a whole. Any other
    message (an escape character or comments in use, an unusual number or time, text after a closing quote, too many or
    too few values, an empty payload) is read by the exact reader, alone.

    Args:
        schema: The columns.
        options: The options of csv.
    """

    def __init__(self, schema: pa.Schema, options: CsvOptions) -> None:
        plain = options.escape_character is None and not options.allow_comments
        super().__init__(schema, _TextReader(schema, options) if plain else None, CsvExactReader(schema, options))
        self._options = options

    def _no_fast_reason(self) -> str:
        return "comments are allowed" if self._options.allow_comments else "there is an escape character"

    def _exact_only(self) -> str:
        return "those with unusual numbers or times, or larger than 1 MiB"


class _TextReader:
    def __init__(self, schema: pa.Schema, options: CsvOptions) -> None:
        self._schema = schema
        self._columns = [text_column(field, options) for field in schema]
        self._sorter = LineSorter(options)
        self._plain = _PlainSplitter(options, len(schema))
        self._quoted = _QuotedSplitter(options, len(schema))

    def read(self, items: PayloadList) -> FastRows:
        """Read what can be split without the exact reader, and converted a column at a time."""
        lines = self._sorter.sort(items)
        plain = self._rows(self._plain.split(lines.plain), lines.plain.places)
        if not lines.quoted:
            index = None if plain.rows.num_rows == len(items) else plain.message_index
            return FastRows(plain.rows, index, plain.placeholders)
        places = np.array(lines.quoted, np.int32)
        quoted = self._rows(self._quoted.split(items, lines.quoted), places)
        none = np.empty(0, np.intp)
        rows, found = merge_by_message(plain.rows, plain.message_index, none, quoted.rows, quoted.message_index)
        wrong = [
            np.searchsorted(found, part.message_index[positions])
            for part in (plain, quoted)
            for positions in part.placeholders
        ]
        return FastRows(rows, None if len(found) == len(items) else found, wrong)

    def _rows(self, split: _Split, places: np.ndarray) -> _Rows:
        texts, kept = split
        wrong: list[np.ndarray] = []
        columns = [column(text, wrong.append) for column, text in zip(self._columns, texts, strict=True)]
        return _Rows(pa.RecordBatch.from_arrays(columns, schema=self._schema), places[kept], wrong)


class _Rows(NamedTuple):
    """Rows, the index of the message of each, and the indices of placeholder rows."""

    rows: pa.RecordBatch
    message_index: np.ndarray
    placeholders: list[np.ndarray]


_Split = tuple[list[pa.StringArray], np.ndarray]
"""The texts of each column, and which of the messages they are of: positions or a mask."""


class _PlainSplitter:
    """Splits lines whose quotes enclose whole values and hold no others."""

    def __init__(self, options: CsvOptions, width: int) -> None:
        self._names = [str(index) for index in range(width)]
        self._types = dict.fromkeys(self._names, pa.string())
        self._delimiter = options.delimiter
        self._quote = options.quote

    def split(self, lines: Joined) -> _Split:
        kept = np.ones(len(lines), bool)
        if not len(lines):
            return [pa.array([], pa.string()) for _ in self._names], kept
        wrong: list[int] = []

        def skip(row: arrow_csv.InvalidRow) -> str:
            wrong.append(row.number - 1)
            return "skip"

        has_quotes = self._quote is not None and self._quote.encode() in lines.text
        table = arrow_csv.read_csv(
            pa.py_buffer(lines.text),
            arrow_csv.ReadOptions(use_threads=False, block_size=len(lines.text) + 1, column_names=self._names),
            arrow_csv.ParseOptions(
                delimiter=self._delimiter,
                quote_char=self._quote if has_quotes else False,
                ignore_empty_lines=False,
                invalid_row_handler=skip,
            ),
            arrow_csv.ConvertOptions(check_utf8=False, column_types=self._types, strings_can_be_null=False),
        )
        kept[wrong] = False
        if table.num_rows != kept.sum():
            raise AssertionError(f"{kept.sum()} lines of CSV became {table.num_rows} rows")
        # One block gives one chunk, and combining that would copy it
        columns = [column.chunk(0) if column.num_chunks == 1 else column.combine_chunks() for column in table.columns]
        return columns, kept


class _QuotedSplitter:
    """Splits lines that hold quotes."""

    def __init__(self, options: CsvOptions, width: int) -> None:
        self._width = width
        self._dialect = {
            "delimiter": options.delimiter,
            "quotechar": options.quote,
            "quoting": csv.QUOTE_MINIMAL if options.quote else csv.QUOTE_NONE,
            "doublequote": True,
            "strict": True,
        }

    def split(self, items: PayloadList, places: Sequence[int]) -> _Split:
        lines = [items[index].decode() for index in places]  # type: ignore[union-attr]
        rows = self._rows(lines)
        kept = [position for position, row in enumerate(rows) if row is not None and len(row) == self._width]
        columns = zip(*(rows[position] for position in kept), strict=True) if kept else [()] * self._width
        return [pa.array(column, pa.string()) for column in columns], np.array(kept, np.intp)

    def _rows(self, lines: list[str]) -> Sequence[list[str] | None]:
        try:
            rows = list(csv.reader(lines, **self._dialect))  # type: ignore[arg-type]
        except csv.Error:
            rows = []
        if len(rows) == len(lines):  # a row takes at least one line: so each has taken its own
            return rows
        return [self._row(line) for line in lines]

    def _row(self, line: str) -> list[str] | None:
        try:
            return next(csv.reader([line], **self._dialect))  # type: ignore[arg-type]
        except csv.Error:
            return None
