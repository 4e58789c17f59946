"""The csv decoder: Arrow's reader for plain lines, the csv module for quoted ones, the exact reader for the others."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from millrace_formats.csv.exact_reader import CsvExactReader
from millrace_formats.csv.joined_messages import JoinedMessages
from millrace_formats.csv.line_classifier import LineClassifier
from millrace_formats.csv.options import CsvOptions
from millrace_formats.csv.text_columns import text_column
from millrace_formats.shared.fallback_decoder import FallbackDecoder, FastRows, PayloadList
from millrace_formats.shared.message_order import merge_by_message


class CsvDecoder(FallbackDecoder):
    """Decode lines of separated values to rows.

    Three ways to split lines give the same rows. Arrow splits, all at once, lines whose quotes, if any, enclose whole
    values and contain no others: each message is one line, so rows cannot get out of step. Python's csv module splits
    most lines with other quotes, also at once; its rows are used only when there are as many as messages. Columns are
    then converted as a whole. Any other message (an escape character or comments in use, an unusual number or time,
    text after a closing quote, too many or too few values, an empty payload) goes to the exact reader, alone.

    Args:
        schema: The columns.
        options: The options of csv.
    """

    def __init__(self, schema: pa.Schema, options: CsvOptions) -> None:
        is_simple = options.escape_character is None and not options.allow_comments
        super().__init__(schema, _TextReader(schema, options) if is_simple else None, CsvExactReader(schema, options))
        self._options = options

    def _no_fast_reason(self) -> str:
        return "comments are allowed" if self._options.allow_comments else "there is an escape character"

    def _exact_only(self) -> str:
        return "those with unusual numbers or times, or larger than 1 MiB"


class _TextReader:
    def __init__(self, schema: pa.Schema, options: CsvOptions) -> None:
        self._schema = schema
        self._columns = [text_column(field, options) for field in schema]
        self._classifier = LineClassifier(options)
        self._plain = _PlainSplitter(options, len(schema))
        self._quoted = _QuotedSplitter(options, len(schema))

    def read(self, payloads: PayloadList) -> FastRows:
        """Read lines that Arrow or the csv module splits."""
        lines = self._classifier.classify(payloads)
        plain = self._rows(self._plain.split(lines.plain), lines.plain.message_index)
        if not lines.quoted:
            index = None if plain.rows.num_rows == len(payloads) else plain.message_index
            return FastRows(plain.rows, index, plain.placeholders)
        quoted = self._rows(self._quoted.split(payloads, lines.quoted), np.array(lines.quoted, np.int32))
        none = np.empty(0, np.intp)
        rows, index = merge_by_message(plain.rows, plain.message_index, none, quoted.rows, quoted.message_index)
        placeholders = [
            np.searchsorted(index, part.message_index[rejected])
            for part in (plain, quoted)
            for rejected in part.placeholders
        ]
        return FastRows(rows, None if len(index) == len(payloads) else index, placeholders)

    def _rows(self, split: _Split, message_index: np.ndarray) -> _Rows:
        texts, selected = split
        rejected: list[np.ndarray] = []
        columns = [column(text, rejected.append) for column, text in zip(self._columns, texts, strict=True)]
        return _Rows(pa.RecordBatch.from_arrays(columns, schema=self._schema), message_index[selected], rejected)


class _Rows(NamedTuple):
    """Rows, the index of the message of each, and the indices of placeholder rows."""

    rows: pa.RecordBatch
    message_index: np.ndarray
    placeholders: list[np.ndarray]


_Split = tuple[list[pa.StringArray], np.ndarray]
"""The texts of each column, and the messages that they are of: indices or a mask."""


class _PlainSplitter:
    """Split lines whose quotes enclose whole values and contain no others, with Arrow."""

    def __init__(self, options: CsvOptions, width: int) -> None:
        self._names = [str(index) for index in range(width)]
        self._types = dict.fromkeys(self._names, pa.string())
        self._delimiter = options.delimiter
        self._quote = options.quote

    def split(self, lines: JoinedMessages) -> _Split:
        selected = np.ones(len(lines), bool)
        if not len(lines):
            return [pa.array([], pa.string()) for _ in self._names], selected
        invalid: list[int] = []

        def skip(row: arrow_csv.InvalidRow) -> str:
            invalid.append(row.number - 1)
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
        selected[invalid] = False
        if table.num_rows != selected.sum():
            raise AssertionError(f"{selected.sum()} lines of CSV became {table.num_rows} rows")
        # One block gives one chunk, which combining would copy
        columns = [column.chunk(0) if column.num_chunks == 1 else column.combine_chunks() for column in table.columns]
        return columns, selected


class _QuotedSplitter:
    """Split other lines with quotes, with the csv module."""

    def __init__(self, options: CsvOptions, width: int) -> None:
        self._width = width
        self._dialect = {
            "delimiter": options.delimiter,
            "quotechar": options.quote,
            "quoting": csv.QUOTE_MINIMAL if options.quote else csv.QUOTE_NONE,
            "doublequote": True,
            "strict": True,
        }

    def split(self, payloads: PayloadList, indices: Sequence[int]) -> _Split:
        lines = [payloads[index].decode() for index in indices]  # type: ignore[union-attr] # text, by its classifier
        rows = self._rows(lines)
        selected = [index for index, row in enumerate(rows) if row is not None and len(row) == self._width]
        columns = zip(*(rows[index] for index in selected), strict=True) if selected else [()] * self._width
        return [pa.array(column, pa.string()) for column in columns], np.array(selected, np.intp)

    def _rows(self, lines: list[str]) -> Sequence[list[str] | None]:
        try:
            rows = list(csv.reader(lines, **self._dialect))  # type: ignore[arg-type] # mixed values
        except csv.Error:
            rows = []
        if len(rows) == len(lines):  # a row takes at least one line, so that each has taken its own
            return rows
        return [self._row(line) for line in lines]

    def _row(self, line: str) -> list[str] | None:
        try:
            return next(csv.reader([line], **self._dialect))  # type: ignore[arg-type] # mixed values
        except csv.Error:
            return None
