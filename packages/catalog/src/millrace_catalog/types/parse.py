"""Parse the SQL text of types and columns; the grammar is ``types.lark``.

Names are those of the reference's SQL, in any case: ``DECIMAL(10, 2)``, ``TIMESTAMP(3) WITH LOCAL TIME ZONE``,
``ROW<a INT NOT NULL, `b.c` ARRAY<STRING>>``. STRUCT means the same as ROW, with or without colons behind the names.
Without a size CHAR and BINARY have a length of 1, VARCHAR is a STRING, VARBINARY is BYTES, DECIMAL has 10 digits and no
scale, TIME a precision of 0 and timestamps one of 6.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from contextlib import suppress
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from millrace.options.suggestions import closest
from millrace_catalog.types import model
from millrace_catalog.types.model import (
    ArrayType,
    Column,
    DataType,
    MapType,
    RowType,
    ScalarType,
    Schema,
    with_nullability,
)

if TYPE_CHECKING:
    from lark import Lark, Token, UnexpectedInput

_MAX_DEPTH = 100
_MAX_SIZE_DIGITS = 20
"""More digits than any size has; int() takes long for very many."""

_CACHED_TEXTS = 256
"""A schema of 1,000 columns takes 33 ms to parse, and a table's state is parsed for each partition that is scanned."""

_PLAIN: dict[str, ScalarType] = {
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
}
_SIZED: dict[str, tuple[Callable[..., ScalarType], tuple[int, ...]]] = {
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
"""Constructors of sized types, and the sizes of a type that is written without any."""

TYPE_NAMES: tuple[str, ...] = (*_PLAIN, *_SIZED, "NULL", "ARRAY", "MAP", "ROW", "STRUCT")
_SYMBOLS = {"LESSTHAN": "'<'", "LPAR": "'('", "COMMA": "','", "MORETHAN": "'>'", "RPAR": "')'", "$END": "the end"}
"""lark's names of the symbols, in the order in which an error lists them."""

_ANY_TOKEN = re.compile(r"\s*(?:`((?:[^`]|``)*)`|'((?:[^']|'')*)'|([\w.$@-]+)|(\S))")
_BRACKETS = re.compile(r"`(?:[^`]|``)*`|'(?:[^']|'')*'|\b(?:row|struct)\s*\(|[<>()]", re.IGNORECASE)


@lru_cache(_CACHED_TEXTS)
def parse_type(text: str) -> DataType:
    """Parse a type such as ``ARRAY<INT NOT NULL>``.

    Raises:
        ValueError: It is no type. The message says at which character, and what was expected there.
    """
    return _parse(text, "type")


@lru_cache(_CACHED_TEXTS)
def parse_schema(text: str) -> Schema:
    """Parse a list of columns such as ``id BIGINT NOT NULL, name VARCHAR(10)``.

    Raises:
        ValueError: It is no list of columns, or a name is repeated. The message says at which character, and what was
            expected there.
    """
    return _parse(text, "schema")


def _parse(text: str, start: str) -> Any:
    from lark import UnexpectedInput

    if text.count("<") + text.count("(") > _MAX_DEPTH:
        _check_depth(text)
    try:
        return _parser().parse(text, start)
    except UnexpectedInput as error:
        raise _syntax_error(text, start, error) from None


@cache
def _parser() -> Lark:
    from lark import Lark

    grammar = files(__package__).joinpath("types.lark").read_text("utf-8")
    return Lark(grammar, start=["type", "schema"], parser="lalr", transformer=type_builder(_located))


def type_builder(located: Callable[[Token, ValueError], Exception]) -> object:
    """Return lark's transformer for the rules of ``types.lark``, also for a grammar that imports them.

    Args:
        located: Makes of an error the one to raise for it, with the place of the type's first token.
    """
    return _TypeBuilder(located)


def _located(token: Token, error: ValueError) -> ValueError:
    return ValueError(f"at character {(token.start_pos or 0) + 1}: {error}")


class _TypeBuilder:
    """Build types from the bottom up: lark calls the method of a rule with what the rule holds."""

    def __init__(self, located: Callable[[Token, ValueError], Exception]) -> None:
        self._located = located

    def schema(self, columns: list[Column]) -> Schema:
        return Schema(tuple(columns))

    def column(self, children: list[Any]) -> Column:
        return Column(children[0], children[1])

    def name(self, children: list[Token]) -> str:
        (token,) = children
        return token[1:-1].replace("``", "`") if token.type == "QUOTED" else str(token)

    def null(self, children: list[Token]) -> DataType:
        return model.NULL

    def nullable(self, children: list[Any]) -> DataType:
        return children[0]

    def not_null(self, children: list[Any]) -> DataType:
        return with_nullability(children[0], False)

    def plain(self, children: list[Token]) -> ScalarType:
        return _PLAIN[children[0].upper()]

    def sized(self, children: list[Token]) -> ScalarType:
        return self._sized(children[0].upper(), children)

    decimal = length_limited = time = timestamp = sized

    def timestamp_tz(self, children: list[Token]) -> ScalarType:
        return self._sized("TIMESTAMP_TZ", children)

    def timestamp_ltz(self, children: list[Token]) -> ScalarType:
        return self._sized("TIMESTAMP_LTZ", children)

    def array(self, children: list[Any]) -> ArrayType:
        return ArrayType(children[1])

    def map(self, children: list[Any]) -> MapType:
        return MapType(children[1], children[2])

    def row(self, children: list[Any]) -> RowType:
        try:
            return RowType(tuple(children[1:]))
        except ValueError as error:
            raise self._located(children[0], error) from None

    def _sized(self, kind: str, tokens: list[Token]) -> ScalarType:
        make, default_sizes = _SIZED[kind]
        sizes = [int(token[:_MAX_SIZE_DIGITS]) for token in tokens if token.type == "SIZE"]
        try:
            return make(*(sizes or default_sizes))
        except ValueError as error:
            raise self._located(tokens[0], error) from None


def _check_depth(text: str) -> None:
    """Raise ValueError for types nested too deeply, which would exhaust the stack of who walks through them."""
    depth = 0
    open_brackets: list[bool] = []
    for match in _BRACKETS.finditer(text):
        bracket = match[0]
        if bracket[-1] in "<(":
            holds_types = bracket != "("  # a plain parenthesis holds a size
            open_brackets.append(holds_types)
            depth += holds_types
            if depth > _MAX_DEPTH:
                raise ValueError(f"types are nested in each other more than {_MAX_DEPTH} deep")
        elif bracket[-1] in ">)" and open_brackets:
            depth -= open_brackets.pop()


def _syntax_error(text: str, start: str, error: UnexpectedInput) -> ValueError:
    """Word an error of lark's: what was expected where, and what stands there."""
    from lark import UnexpectedToken

    end = len(text.rstrip())
    is_end = isinstance(error, UnexpectedToken) and error.token.type == "$END"
    position = end if is_end else error.pos_in_stream or 0
    match = _ANY_TOKEN.match(text, position)
    if match is None:
        position, token, word = end, "the end", None
    else:
        group = match.lastindex or 0
        position, token, word = match.start(group), repr(match[group]), match[3]
    expected = _describe(_accepted_terminals(text, start))
    close = closest(word, TYPE_NAMES) if word and expected == "a type" else None
    suggestion = f"; did you mean {close}?" if close else ""
    return ValueError(f"expected {expected} at character {position + 1}, found {token}{suggestion}")


def _accepted_terminals(text: str, start: str) -> set[str]:
    """Return the terminals that lark would accept at the place of a syntax error."""
    from lark import UnexpectedInput

    parser = _parser().parse_interactive(text, start)
    with suppress(UnexpectedInput):
        parser.exhaust_lexer()
    # Where all is reduced already, lark names nothing that could follow
    return set(parser.accepts()) or {"$END"}


def _describe(terminals: Collection[str]) -> str:
    if "PLAIN" in terminals:
        return "a type"
    if "WORD" in terminals:
        return "a name"
    if "SIZE" in terminals:
        return "a whole number"
    symbols = [text for name, text in _SYMBOLS.items() if name in terminals]
    return " or ".join(symbols or sorted(terminals))
