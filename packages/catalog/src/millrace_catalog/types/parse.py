"""From the text of SQL types to the types.

Names are those of the reference's SQL, in any case: ``DECIMAL(10, 2)``, ``TIMESTAMP(3) WITH LOCAL TIME ZONE``,
``ROW<a INT NOT NULL, `b.c` ARRAY<STRING>>``. STRUCT means the same as ROW, with or without colons behind the names.
Without a size CHAR and BINARY have a length of 1, VARCHAR is a STRING, VARBINARY is BYTES, DECIMAL has 10 digits and no
scale, TIME a precision of 0 and timestamps one of 6.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from millrace.options.suggestions import closest
from millrace_catalog.types import model
from millrace_catalog.types.model import Array, Column, DataType, Map, Row, Scalar
from millrace_catalog.types.schema import Schema
from millrace_catalog.types.widen import with_nullability

_TOKEN = re.compile(r"\s*(?:`((?:[^`]|``)*)`|'((?:[^']|'')*)'|([\w.$@-]+)|([<>(),:]))")
_DEEPEST = 100

_PLAIN: dict[str, Scalar] = {
    "BOOLEAN": model.BOOLEAN,
    "TINYINT": model.TINYINT,
    "SMALLINT": model.SMALLINT,
    "INT": model.INT,
    "INTEGER": model.INT,
    "BIGINT": model.BIGINT,
    "FLOAT": model.FLOAT,
    "DOUBLE": model.DOUBLE,
    "STRING": model.STRING,
    "BYTES": model.BYTES,
    "DATE": model.DATE,
    "VARIANT": model.VARIANT,
    "NULL": model.NULL,
}

_SIZED: dict[str, tuple[Callable[..., Scalar], tuple[int, ...]]] = {
    "DECIMAL": (model.decimal, (10, 0)),
    "DEC": (model.decimal, (10, 0)),
    "NUMERIC": (model.decimal, (10, 0)),
    "CHAR": (model.char, (1,)),
    "VARCHAR": (model.varchar, (model.MAX_LENGTH,)),
    "BINARY": (model.binary, (1,)),
    "VARBINARY": (model.varbinary, (model.MAX_LENGTH,)),
    "TIME": (model.time, (0,)),
    "TIMESTAMP": (model.timestamp, (6,)),
    "TIMESTAMP_NTZ": (model.timestamp, (6,)),
    "TIMESTAMP_LTZ": (model.timestamp_ltz, (6,)),
    "TIMESTAMP_TZ": (model.timestamp_tz, (6,)),
}
"""What makes a type of its sizes, and those that it has when they are not written."""

_ZONES = {
    ("WITHOUT", "TIME", "ZONE"): "TIMESTAMP",
    ("WITH", "LOCAL", "TIME", "ZONE"): "TIMESTAMP_LTZ",
    ("WITH", "TIME", "ZONE"): "TIMESTAMP_TZ",
}
_KNOWN = (*_PLAIN, *_SIZED, "ARRAY", "MAP", "ROW", "STRUCT")


def parse_type(text: str) -> DataType:
    """The type that a text such as ``ARRAY<INT NOT NULL>`` means.

    Raises:
        ValueError: It is no type; says where, and what was expected there.
    """
    parser = _Parser(text)
    type_ = parser.type(0)
    parser.end()
    return type_


def parse_schema(text: str) -> Schema:
    """The columns of a text such as ``id BIGINT NOT NULL, name VARCHAR(10)``.

    Raises:
        ValueError: It is no list of columns, or a name is repeated; says where, and what was expected there.
    """
    parser = _Parser(text)
    columns = parser.columns("", 0)
    parser.end()
    return Schema(columns)


class _Token(NamedTuple):
    """A part of the text: ``kind`` is name, comment, word, symbol or end."""

    kind: str
    text: str
    position: int

    @property
    def upper(self) -> str:
        return self.text.upper() if self.kind in ("word", "symbol") else ""

    def __str__(self) -> str:
        return "the end" if self.kind == "end" else repr(self.text)


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._next = 0

    def end(self) -> None:
        if self._peek.kind != "end":
            raise _error(self._peek, "the end or ','")

    def columns(self, closing: str, depth: int) -> tuple[Column, ...]:
        columns: list[Column] = []
        if closing and self._takes(closing):
            return ()
        while True:
            columns.append(self._column(depth))
            if not self._takes(","):
                if closing:
                    self._expect(closing)
                return tuple(columns)

    def type(self, depth: int) -> DataType:
        if depth > _DEEPEST:
            raise ValueError(f"types are nested in each other more than {_DEEPEST} deep")
        type_ = self._base(depth)
        if type_ == model.NULL:
            return type_
        if self._take_words("NOT", "NULL"):
            return with_nullability(type_, False)
        self._take_words("NULL")
        return type_

    @property
    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _pop(self) -> _Token:
        token = self._peek
        self._next += token.kind != "end"
        return token

    def _takes(self, symbol: str) -> bool:
        found = self._peek.kind == "symbol" and self._peek.text == symbol
        self._next += found
        return found

    def _expect(self, symbol: str) -> None:
        if not self._takes(symbol):
            raise _error(self._peek, repr(symbol))

    def _take_words(self, *words: str) -> bool:
        there = tuple(token.upper for token in self._tokens[self._next : self._next + len(words)])
        if there != words:
            return False
        self._next += len(words)
        return True

    def _column(self, depth: int) -> Column:
        name = self._pop()
        if name.kind not in ("name", "word"):
            raise _error(name, "a name")
        self._takes(":")
        column = Column(name.text, self.type(depth))
        self._take_words("COMMENT")
        if self._peek.kind == "comment":
            self._pop()
        return column

    def _base(self, depth: int) -> DataType:
        token = self._pop()
        name = token.upper
        if name == "ARRAY":
            return Array(self._inner("<", ">", depth))
        if name == "MAP":
            return Map(self._inner("<", ",", depth), self._inner("", ">", depth))
        if name in ("ROW", "STRUCT"):
            closing = ")" if self._takes("(") else ">"
            if closing == ">":
                self._expect("<")
            return Row(self.columns(closing, depth + 1))
        if name == "DOUBLE":
            self._take_words("PRECISION")
        if name in _PLAIN:
            return _PLAIN[name]
        if name in _SIZED:
            return self._sized(token, name)
        raise _error(token, "a type", closest(token.text, _KNOWN))

    def _inner(self, opening: str, closing: str, depth: int) -> DataType:
        if opening:
            self._expect(opening)
        type_ = self.type(depth + 1)
        self._expect(closing)
        return type_

    def _sized(self, token: _Token, name: str) -> Scalar:
        sizes = self._sizes(len(_SIZED[name][1]))
        if name == "TIMESTAMP":
            name = next((kind for words, kind in _ZONES.items() if self._take_words(*words)), name)
        elif name == "TIME":
            self._take_words("WITHOUT", "TIME", "ZONE")
        make, default = _SIZED[name]
        try:
            return make(*(sizes or default))
        except ValueError as error:
            raise ValueError(f"at character {token.position + 1}: {error}") from None

    def _sizes(self, most: int) -> tuple[int, ...]:
        sizes: list[int] = []
        if self._takes("("):
            while not sizes or (len(sizes) < most and self._takes(",")):
                number = self._pop()
                if not (number.kind == "word" and number.text.isascii() and number.text.isdigit()):
                    raise _error(number, "a whole number")
                sizes.append(int(number.text[:20]))
            self._expect(")")
        return tuple(sizes)


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    position = 0
    end = len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            start = position + len(text[position:]) - len(text[position:].lstrip())
            raise _error(_Token("symbol", text[start], start), "a name or a type")
        kind = ("name", "comment", "word", "symbol")[(match.lastindex or 0) - 1]
        found = match[match.lastindex or 0]
        if kind == "name":
            found = found.replace("``", "`")
        tokens.append(_Token(kind, found, match.start(match.lastindex or 0)))
        position = match.end()
    return [*tokens, _Token("end", "", end)]


def _error(found: _Token, expected: str, close: str | None = None) -> ValueError:
    hint = f"; did you mean {close}?" if close else ""
    return ValueError(f"expected {expected} at character {found.position + 1}, found {found}{hint}")
