"""Parse a list of columns as Spark's DDL, without Spark's Java process.

Spark's own `StructType.fromDDL` asks its Java process. The types, their synonyms and their defaults are those of
https://spark.apache.org/docs/latest/sql-ref-datatypes.html; TIMESTAMP has the session's time zone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, NoReturn, TypeVar

from pyspark.sql import types as sql

from millrace.errors import SchemaError
from millrace.options.suggestions import closest

_TOKEN = re.compile(r"`(?:[^`]|``)+`|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\w+|\S", re.DOTALL)

_TYPES: dict[str, sql.DataType] = {
    "BOOLEAN": sql.BooleanType(),
    "TINYINT": sql.ByteType(),
    "BYTE": sql.ByteType(),
    "SMALLINT": sql.ShortType(),
    "SHORT": sql.ShortType(),
    "INT": sql.IntegerType(),
    "INTEGER": sql.IntegerType(),
    "BIGINT": sql.LongType(),
    "LONG": sql.LongType(),
    "FLOAT": sql.FloatType(),
    "REAL": sql.FloatType(),
    "DOUBLE": sql.DoubleType(),
    "STRING": sql.StringType(),
    "BINARY": sql.BinaryType(),
    "DATE": sql.DateType(),
    "TIMESTAMP": sql.TimestampType(),
    "TIMESTAMP_LTZ": sql.TimestampType(),
    "TIMESTAMP_NTZ": sql.TimestampNTZType(),
    "VARIANT": sql.VariantType(),
    "VOID": sql.NullType(),
}
_DECIMAL = frozenset({"DECIMAL", "DEC", "NUMERIC"})
_OF_LENGTH = {"CHAR": sql.CharType, "CHARACTER": sql.CharType, "VARCHAR": sql.VarcharType}
_TIME_PRECISION = 6
_KNOWN = (*_TYPES, *_DECIMAL, *_OF_LENGTH, "TIME", "ARRAY", "MAP", "STRUCT")

T = TypeVar("T")


def parse_ddl(text: str, what: str = "schema") -> sql.StructType:
    """Parse a list of columns, such as ``id BIGINT NOT NULL, tags MAP<STRING, ARRAY<INT>>``.

    Args:
        text: The list.
        what: The name of what holds it, for errors.

    Raises:
        SchemaError: It is no such list; the message says at which character.
    """
    try:
        return _DdlParser(text).schema()
    except ValueError as error:
        raise SchemaError(f"{what}: {error}") from None


class _Token(NamedTuple):
    text: str
    at: int


class _DdlParser:
    """A parser of one text, by recursive descent.

    Raises:
        ValueError: From each method, if the text goes on with something else.
    """

    def __init__(self, text: str) -> None:
        self._tokens = [_Token(match[0], match.start()) for match in _TOKEN.finditer(text)]
        self._tokens.append(_Token("", len(text)))
        self._next = 0

    def schema(self) -> sql.StructType:
        columns = sql.StructType(self._list(self._field))
        if self._peek():
            self._fail("',' or the end")
        return columns

    def _field(self) -> sql.StructField:
        name = self._name()
        self._accept(":")
        type_ = self._type()
        nullable = True
        if self._accept("NOT"):
            self._expect("NULL")
            nullable = False
        comment = self._text() if self._accept("COMMENT") else None
        return sql.StructField(name, type_, nullable, None if comment is None else {"comment": comment})

    def _type(self) -> sql.DataType:
        name = self._peek().upper()
        if name not in _KNOWN:
            self._fail("a type", _KNOWN)
        self._next += 1
        if name in _TYPES:
            return _TYPES[name]
        if name in _DECIMAL:
            return sql.DecimalType(*self._sizes(2))
        if name in _OF_LENGTH:
            return _OF_LENGTH[name](*(self._sizes(1) or self._fail("a length in parentheses")))
        if name == "TIME":
            return sql.TimeType(*(self._sizes(1) or [_TIME_PRECISION]))
        return self._nested(name)

    def _nested(self, name: str) -> sql.DataType:
        self._expect("<")
        if name == "STRUCT":
            type_: sql.DataType = sql.StructType([] if self._peek() == ">" else self._list(self._field))
        elif name == "ARRAY":
            type_ = sql.ArrayType(self._type())
        else:
            key = self._type()
            self._expect(",")
            type_ = sql.MapType(key, self._type())
        self._expect(">")
        return type_

    def _sizes(self, most: int) -> list[int]:
        """Parse sizes in parentheses, if there are any."""
        if not self._accept("("):
            return []
        sizes = self._list(self._number)
        if len(sizes) > most:
            self._fail(f"at most {most} in parentheses")
        self._expect(")")
        return sizes

    def _list(self, parse: Callable[[], T]) -> list[T]:
        items = [parse()]
        while self._accept(","):
            items.append(parse())
        return items

    def _number(self) -> int:
        if not self._peek().isdecimal():
            self._fail("a number")
        return int(self._take())

    def _name(self) -> str:
        token = self._peek()
        if token.startswith("`") and len(token) > 1:
            return self._take()[1:-1].replace("``", "`")
        if not re.fullmatch(r"\w+", token):
            self._fail("the name of a column")
        return self._take()

    def _text(self) -> str:
        if len(self._peek()) < 2 or self._peek()[0] not in "'\"":
            self._fail("a text in quotes")
        return re.sub(r"\\(.)", r"\1", self._take()[1:-1], flags=re.DOTALL)

    def _accept(self, token: str) -> bool:
        is_next = self._peek().upper() == token
        self._next += is_next
        return is_next

    def _expect(self, token: str) -> None:
        if not self._accept(token):
            self._fail(repr(token))

    def _peek(self) -> str:
        return self._tokens[self._next].text

    def _take(self) -> str:
        self._next += 1
        return self._tokens[self._next - 1].text

    def _fail(self, expected: str, known: tuple[str, ...] = ()) -> NoReturn:
        token, at = self._tokens[self._next]
        actual = repr(token) if token else "the end"
        close = closest(token, known)
        hint = f"; did you mean {close}?" if close else ""
        raise ValueError(f"expected {expected} at character {at + 1}, found {actual}{hint}")
