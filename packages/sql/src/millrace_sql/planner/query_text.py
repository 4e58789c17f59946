"""The text of a query: its tokens, its tree, and the places of both in the user's script."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError, TokenError
from sqlglot.tokens import Token

from millrace.errors import SchemaError
from millrace_catalog.types.spark import from_spark
from millrace_sql.errors import SqlError, SqlSyntaxError
from millrace_sql.planner.dialect.products import TypeOf
from millrace_sql.planner.dialect.query_types import QueryTypes
from millrace_sql.planner.dialect.tokens import Edit, TokenRewriter
from millrace_sql.planner.model import TableLookup
from millrace_sql.planner.user_functions import CatalogFunction, FunctionLookup, no_functions
from millrace_sql.script_texts import Identifier, ScriptPosition, SqlText

if TYPE_CHECKING:
    from pyspark.sql.types import DataType as SparkType

    from millrace_catalog.types import DataType

DIALECT = "spark"

_TYPED = re.compile(
    r"[/\[]|\b(?:AVG|CAST|CEIL|CEILING|FLOOR|JSON_ARRAY|JSON_OBJECT|JSON_STRING|LATERAL|TRUNCATE|UNNEST)\b",
    re.IGNORECASE,
)
"""Expressions whose meaning may depend on the types of columns."""
TOO_DEEP = (
    "the query is nested too deeply to be parsed: make views of its inner queries, and columns of its expressions"
)
"""The error of a query whose depth is more than Python's stack takes."""

_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_OPTIONS = re.compile(r"/\*\+\s*OPTIONS\s*\((?P<options>.*)\)\s*\*/", re.DOTALL | re.IGNORECASE)
_TEXT = r"'((?:[^']|'')*)'"
_OPTION = re.compile(rf"\s*{_TEXT}\s*=\s*{_TEXT}\s*(?:,|$)")


@dataclass(frozen=True)
class QueryText:
    """A query, parsed.

    Attributes:
        source: As the user wrote it.
        text: The text that was parsed: the user's, with its types and functions spelt as Spark spells them.
        tree: The parsed text.
        hints: Options of a hint, by the offset of the last character of the table's name in `text`.
        temporal: The times after FOR SYSTEM_TIME AS OF, as they are written, by the last offset of the table's name.
        session_keys: The columns of PARTITION BY in SESSION, by the last offset of the table's name.
        edits: The differences between the two texts, in order.
        is_spark: Whether what Spark knows means what it means to Spark.
        type_of: Returns the types of its expressions that follow from its tables; None where these are not known.
    """

    source: SqlText
    text: str
    tree: exp.Expr
    hints: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    temporal: Mapping[int, str] = field(default_factory=dict)
    session_keys: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()
    is_spark: bool = False
    type_of: TypeOf | None = None

    def position_of(self, node: exp.Expr | None) -> ScriptPosition | None:
        """Return the place of the first name in a part of the tree; None when it holds no name."""
        starts = [] if node is None else [part.meta["start"] for part in node.walk() if "start" in part.meta]
        return place(self.source, original_offset(self.edits, min(starts))) if starts else None

    def error(self, message: str, node: exp.Expr | None = None) -> SqlError:
        """Return an error at the place of a part of the tree, or of the query."""
        return SqlError(message, self.position_of(node) or self.source.position)


def parse_query(
    source: SqlText,
    tables: TableLookup | None = None,
    *,
    time_zone: str = "UTC",
    is_spark: bool = False,
    functions: FunctionLookup = no_functions,
) -> QueryText:
    """Parse a query.

    Args:
        source: The query.
        tables: Resolves the names of its tables, whose columns decide what an operator means; None for none.
        time_zone: The session's time zone, in which windows begin.
        is_spark: Whether what Spark knows means what it means to Spark.
        functions: Finds user-defined functions.

    Raises:
        SqlSyntaxError: It is not SQL.
        SqlError: A part of it is spelt otherwise in Spark and cannot be rewritten.
    """
    try:
        tokens = sqlglot.tokenize(source.text, dialect=DIALECT)
    except TokenError as error:
        raise SqlSyntaxError(
            f"the query ends within a text or a comment: {_one_line(str(error))}", source.position
        ) from None
    called: dict[str, DataType] = {}

    def known(name: tuple[str, ...]) -> CatalogFunction | None:
        function = functions(name)
        if function is not None:
            called[function.spark_name] = function.result
        return function

    parsed = partial(_parsed, source, tokens, time_zone=time_zone, is_spark=is_spark, functions=known)
    text = parsed(None)
    if tables is None:
        return text
    types = QueryTypes(text.tree, partial(_types_of, text, tables, functions), called)
    if called or _TYPED.search(source.text):
        text = parsed(types.type_of)
    return replace(text, type_of=types.type_of)


def _parsed(
    source: SqlText,
    tokens: list[Token],
    type_of: TypeOf | None,
    *,
    time_zone: str,
    is_spark: bool,
    functions: FunctionLookup,
) -> QueryText:

    hints = dict(_hints(source, tokens))
    rewriter = TokenRewriter(
        source.text,
        tokens,
        lambda offset: place(source, offset),
        type_of,
        time_zone=time_zone,
        is_spark=is_spark,
        functions=functions,
    )
    edits = tuple(sorted((*rewriter.edits(), *(edit for _, edit in hints.values()))))
    text = apply_edits(source.text, edits)
    try:
        tree = sqlglot.parse_one(text, dialect=DIALECT)
    except ParseError as error:
        raise _syntax_error(source, text, edits, error) from None
    except RecursionError:
        raise SqlSyntaxError(TOO_DEEP, source.position) from None
    except SqlglotError as error:  # pragma: no cover - sqlglot raises nothing else for texts that were tokenized
        raise SqlSyntaxError(_one_line(str(error)), source.position) from None
    return QueryText(
        source,
        text,
        tree,
        {moved_offset(edits, end): options for end, (options, _) in hints.items()},
        {moved_offset(edits, end): time for end, time in rewriter.temporal.items()},
        {moved_offset(edits, end): names for end, names in rewriter.session_keys.items()},
        edits,
        is_spark,
    )


def _types_of(
    text: QueryText, tables: TableLookup, functions: FunctionLookup, node: exp.Table
) -> Mapping[str, DataType | None]:
    """Return the types of a table's columns, or of all that a view's query names; empty for what is no table."""
    if not all(isinstance(part, exp.Identifier) for part in node.parts):
        return {}
    names = tuple(part.name for part in node.parts)
    try:
        table = tables(Identifier(names), text.hints.get(node.parts[-1].meta.get("end", -1), {}))
        if table.view is None:
            return {column.name.lower(): _known_type(column.type) for column in table.columns}
        view = parse_query(table.view.query, functions=functions)
        types = QueryTypes(view.tree, partial(_types_of, view, table.view.tables, functions)).names()
    except SqlError:
        return {}  # a common table expression, or an unknown table, which the analysis tells
    return {**types, **dict.fromkeys((name.lower() for name in table.view.columns), None)}


def _known_type(type_: SparkType) -> DataType | None:
    try:
        return from_spark(type_)
    except SchemaError:
        return None


def rewrite_expression(source: SqlText, *, is_spark: bool = False, functions: FunctionLookup = no_functions) -> str:
    """Return an expression as Spark spells it.

    Args:
        source: The expression.
        is_spark: Whether what Spark knows means what it means to Spark.
        functions: Finds user-defined functions.

    Raises:
        SqlError: It is no expression, or a part of it is spelt otherwise in Spark and cannot be rewritten.
    """
    try:
        tokens = sqlglot.tokenize(source.text, dialect=DIALECT)
    except TokenError as error:
        message = f"the expression ends within a text or a comment: {_one_line(str(error))}"
        raise SqlSyntaxError(message, source.position) from None
    rewriter = TokenRewriter(
        source.text, tokens, lambda offset: place(source, offset), is_spark=is_spark, functions=functions
    )
    return apply_edits(source.text, tuple(sorted(rewriter.edits())))


def apply_edits(text: str, edits: tuple[Edit, ...]) -> str:
    """Return a text with parts of it replaced; the edits are in order and apart."""
    parts, copied = [], 0
    for edit in edits:
        parts += [text[copied : edit.start], edit.replacement]
        copied = edit.end
    return "".join((*parts, text[copied:]))


def moved_offset(edits: tuple[Edit, ...], offset: int) -> int:
    """Return the offset after the edits of a character that none of them replaces."""
    return offset + sum(len(edit.replacement) - (edit.end - edit.start) for edit in edits if edit.end <= offset)


def original_offset(edits: tuple[Edit, ...], offset: int) -> int:
    """Return the offset before the edits; that of an edit's begin for what it brought."""
    starts = [moved_offset(edits, edit.start) for edit in edits]
    index = bisect_right(starts, offset) - 1
    if index < 0:
        return offset
    edit = edits[index]
    into = offset - starts[index]
    return edit.start if into < len(edit.replacement) else edit.end + into - len(edit.replacement)


def place(source: SqlText, offset: int) -> ScriptPosition:
    """Return the place in the script of a character of a query."""
    before = source.text[:offset]
    line = before.count("\n")
    column = offset - (before.rfind("\n") + 1)
    first = source.position
    return ScriptPosition(first.line + line, (first.column if line == 0 else 1) + column) if first.line else first


def place_of_name(source: SqlText, name: str) -> ScriptPosition:
    """Return the place of the first name in a query whose last part is that of a name as Spark quotes it.

    Args:
        source: The query.
        name: A name, such as ```o`.`item```.

    Returns:
        Its place; that of the query where there is none.
    """
    last = name.replace("``", "\0").rpartition(".`")[2].strip("`").replace("\0", "`").lower()
    for token in sqlglot.tokenize(source.text, dialect=DIALECT):
        if token.text.lower() == last and source.text[token.start] not in "'\"":
            return place(source, token.start)
    return source.position


def _hints(source: SqlText, tokens: list[Token]) -> Iterator[tuple[int, tuple[Mapping[str, str], Edit]]]:
    for before, after in zip(tokens, (*tokens[1:], None), strict=True):
        begin, end = before.end + 1, after.start if after is not None else len(source.text)
        for comment in _COMMENT.finditer(source.text, begin, end):
            if match := _OPTIONS.fullmatch(comment.group()):
                options = _options(match["options"])
                if options is None:
                    message = "a hint of options is written /*+ OPTIONS('key' = 'value', ...) */"
                    raise SqlSyntaxError(message, place(source, comment.start()))
                blanks = re.sub(r"[^\n]", " ", comment.group())
                yield before.end, (options, Edit(comment.start(), comment.end(), blanks))


def _options(text: str) -> Mapping[str, str] | None:
    options, offset = {}, 0
    while offset < len(text.rstrip()):
        match = _OPTION.match(text, offset)
        if match is None:
            return None
        options[match[1].replace("''", "'")] = match[2].replace("''", "'")
        offset = match.end()
    return options


def _syntax_error(source: SqlText, text: str, edits: tuple[Edit, ...], error: ParseError) -> SqlSyntaxError:
    first = error.errors[0] if error.errors else {}
    word = (first.get("highlight") or "").strip()
    # sqlglot counts lines from 1, and its columns to the end of a word
    line, column = first.get("line") or 1, first.get("col") or 1
    offset = sum(len(part) + 1 for part in text.split("\n")[: line - 1]) + max(column - max(len(word), 1), 0)
    description = str(first.get("description") or _one_line(str(error))).rstrip(".")
    message = (
        f"the query cannot be parsed at {word!r}: {description}"
        if word
        else f"the query cannot be parsed: {description}"
    )
    return SqlSyntaxError(message, place(source, original_offset(edits, min(offset, len(text)))))


def _one_line(text: str) -> str:
    return " ".join(text.split())
