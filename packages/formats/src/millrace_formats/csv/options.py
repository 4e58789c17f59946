"""The options of the csv format, with the names and defaults of the reference."""

from __future__ import annotations

import re
from dataclasses import dataclass

from millrace.options import option

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f", "0": "\0"}


@dataclass(frozen=True)
class CsvOptions:
    """The options of csv."""

    field_delimiter: str = option(
        "field-delimiter",
        default=",",
        doc="The character between fields, which may be an escape such as \\t or \\u0001.",
    )
    disable_quote_character: bool = option(
        "disable-quote-character", default=False, doc="Whether values are never enclosed in quotes."
    )
    quote_character: str = option("quote-character", default='"', doc="The character around quoted values.")
    allow_comments: bool = option(
        "allow-comments",
        default=False,
        doc="Skip lines that start with #. A message with only such lines gives no row.",
    )
    ignore_parse_errors: bool = option(
        "ignore-parse-errors",
        default=False,
        skips_malformed=True,
        doc="Read a field that cannot be converted as NULL; skip broken lines.",
    )
    array_element_delimiter: str = option(
        "array-element-delimiter", default=";", doc="The text between the elements of an array or struct."
    )
    escape_character: str | None = option(
        "escape-character", default=None, doc="The character that escapes the next one."
    )
    null_literal: str | None = option("null-literal", default=None, doc="The text that represents NULL.")
    scientific_decimals: bool = option(
        "write-bigdecimal-in-scientific-notation",
        default=True,
        doc="Write decimals without trailing zeros, 100000 as 1E+5, instead of with all digits of their scale.",
    )

    def __post_init__(self) -> None:
        _check_character("field-delimiter", self.delimiter, "\r\n")
        _check_character("quote-character", self.quote_character, f"\r\n{self.delimiter}")
        if self.escape_character is not None:
            _check_character("escape-character", self.escape_character, f"\r\n{self.delimiter}{self.quote or ''}")
        if self.disable_quote_character and self.quote_character != '"':
            raise ValueError("disable-quote-character and quote-character exclude each other: set one of them")
        if not self.array_element_delimiter:
            raise ValueError("array-element-delimiter is empty: give the text between elements")

    @property
    def delimiter(self) -> str:
        """The character between fields, its backslash escape resolved."""
        return _ESCAPE.sub(_unescape, self.field_delimiter)

    @property
    def quote(self) -> str | None:
        """The character that encloses values, or None when there is none."""
        return None if self.disable_quote_character else self.quote_character


def _unescape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else _ESCAPED.get(match[2], match[2])


def _check_character(name: str, text: str, taken: str) -> None:
    if len(text) != 1:
        raise ValueError(f"{name} is {text!r}: expected a single character")
    if text in taken:
        raise ValueError(f"{name} is {text!r}, which already has a meaning: choose another character")
