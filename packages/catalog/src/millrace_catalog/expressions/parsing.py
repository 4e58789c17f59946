"""Parse expressions of pipelines: conditions, and the items of projections."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from millrace.options.suggestions import closest
from millrace_catalog.expressions.function import UnknownTypeError
from millrace_catalog.expressions.functions import FUNCTIONS, OWN_SYNTAX, UNSUPPORTED_IN_PIPELINES
from millrace_catalog.expressions.scanner import CALL, ExpressionError, Prepared, prepare
from millrace_catalog.expressions.spark_functions import SPARK_FUNCTIONS, VOLATILE_FUNCTIONS
from millrace_catalog.expressions.translation import BORDER, DIALECT, Translator
from millrace_catalog.types import DataType

STAR = "*"

_ALLOWED = re.compile(
    "Add|Alias|And|Anonymous|Between|Boolean|Bracket|Case|Cast|Column|DPipe|DataType|Div|EQ|Escape|GT|GTE|Identifier|If|In|"
    "Interval|IntervalSpan|Is|LT|LTE|Like|Literal|Mod|Mul|NEQ|Neg|Not|Null|NullSafeEQ|NullSafeNEQ|Or|Paren|RegexpLike|"
    "SimilarTo|Star|Sub|Trim|Var"
)
"""Classes of sqlglot's tree that an expression may consist of."""

_NO_TYPES: Mapping[str, DataType] = {}


@dataclass(frozen=True)
class ParsedExpression:
    """An expression, or an item of a projection.

    Attributes:
        name: The name of the column that it makes; `STAR` for all columns; None for an expression without a name.
        columns: The columns that it reads, in the order in which they are first read, with their places in the text.
        column: The column that it is, and no more; None for another expression.
        offset: Its place in the text.
        volatile: A function in it that returns another value each time; empty for none.
    """

    name: str | None
    columns: Mapping[str, int]
    column: str | None
    offset: int
    volatile: str = ""
    tree: Any = field(default=None, compare=False, repr=False)
    _prepared: Prepared = field(default_factory=Prepared, compare=False, repr=False)

    def parts(self, types: Mapping[str, DataType] = _NO_TYPES) -> tuple[str, ...]:
        """Return it as Spark SQL: texts, and between each two of them the name of a column.

        Args:
            types: The types of columns that are known.

        Raises:
            ExpressionError: It is wrong for these types.
        """
        if self.name == STAR:
            return (STAR,)
        return tuple(self._translator(types).write(self.tree).split(BORDER))

    def type(self, types: Mapping[str, DataType]) -> DataType | None:
        """Return its type, where it follows from the types of columns; raise as `parts` does."""
        return self._translator(types).write(self.tree).type

    def offset_of(self, node: Any) -> int:
        """Return the place of a part of its tree in the text."""
        return _offset(node, self._prepared)

    def text_of(self, node: Any) -> str:
        """Return the value of a text in its tree."""
        return self._prepared.texts[int(node.this)]

    def _translator(self, types: Mapping[str, DataType]) -> Translator:
        return Translator(self._prepared, types, _offset)


def quote(name: str) -> str:
    """Return a name between backticks."""
    return "`" + name.replace("`", "``") + "`"


def join_sql(parts: Sequence[str], column_sql: Callable[[str], str] = quote) -> str:
    """Join the parts of an expression.

    Args:
        parts: Texts, and between each two of them the name of a column.
        column_sql: Returns the SQL of a column by its name; by default its name between backticks.
    """
    return "".join(column_sql(part) if index % 2 else part for index, part in enumerate(parts))


def parse_projection(text: str) -> tuple[ParsedExpression, ...]:
    """Parse the items of a projection.

    Raises:
        ExpressionError: It is none.
    """
    prepared = prepare(text)
    select = _parse("SELECT ", prepared)
    if len(select.expressions) != len(prepared.items):
        raise ExpressionError("expected a column before and after each comma", prepared.items[-1])
    return tuple(
        _expression(item, prepared, offset) for item, offset in zip(select.expressions, prepared.items, strict=True)
    )


def parse_condition(text: str) -> ParsedExpression:
    """Parse a condition, as of a filter.

    Raises:
        ExpressionError: It is none.
    """
    prepared = prepare(text)
    select = _parse("SELECT 1 WHERE ", prepared)
    expression = _expression(select.args["where"].this, prepared, 0)
    if expression.name == STAR:
        raise ExpressionError("expected a condition, found '*'", expression.offset)
    return expression


def _parse(prefix: str, prepared: Prepared) -> Any:
    import sqlglot
    from sqlglot.errors import ParseError, TokenError

    if not prepared.text.strip():
        raise ExpressionError("expected an expression, found nothing", 0)
    for call in prepared.calls.values():
        if call.type is None and call.name.upper() not in FUNCTIONS and call.name.lower() not in SPARK_FUNCTIONS:
            raise ExpressionError(_unknown(call.name), call.offset)
    try:
        select = sqlglot.parse_one(prefix + prepared.text, read=DIALECT)
    except ParseError as error:
        first = error.errors[0] if error.errors else {}
        end = (first.get("col") or 0) - len(prefix)
        offset = prepared.offset_of(max(end - len(first.get("highlight") or ""), 0))
        raise ExpressionError("expected an expression of SQL; here it goes wrong", offset) from None
    except TokenError:
        raise ExpressionError("expected an expression of SQL", 0) from None
    clauses = {name for name, value in select.args.items() if value and name != "kind"}
    allowed = {"expressions", "where"} if "WHERE" in prefix else {"expressions"}
    if type(select).__name__ != "Select" or clauses - allowed:
        clause = ", ".join(sorted(clauses - allowed)).replace("_", " ").strip().upper() or "a statement"
        raise ExpressionError(f"expected an expression of SQL, found {clause}", 0)
    return select


def _expression(item: Any, prepared: Prepared, offset: int) -> ParsedExpression:
    from sqlglot import exp

    _check(item, prepared)
    name = item.alias if isinstance(item, exp.Alias) else None
    value = item.this if isinstance(item, exp.Alias) else item
    if isinstance(value, exp.Star):
        return ParsedExpression(STAR, {}, None, offset)
    units = {id(unit) for unit in _units(value, prepared)}
    columns: dict[str, int] = {}
    for node in value.find_all(exp.Column):
        if id(node) not in units:
            columns.setdefault(node.name, _offset(node, prepared))
    column = value.name if isinstance(value, exp.Column) else None
    expression = ParsedExpression(name or column, columns, column, offset, _volatile(value, prepared), value, prepared)
    try:
        expression.parts()
    except ExpressionError as error:
        if not isinstance(error.__cause__, UnknownTypeError):
            raise
    return expression


def _volatile(value: Any, prepared: Prepared) -> str:
    from sqlglot import exp

    names = (prepared.calls[node.name].name for node in value.find_all(exp.Anonymous))
    return next((name.upper() for name in names if name.lower() in VOLATILE_FUNCTIONS), "")


def _units(value: Any, prepared: Prepared) -> Iterator[Any]:
    """Yield the nodes that are units of time, not columns."""
    from sqlglot import exp

    for node in value.find_all(exp.Anonymous):
        call = prepared.calls.get(node.name)
        function = FUNCTIONS.get(call.name.upper()) if call else None
        if function and function.takes_unit and node.expressions:
            yield node.expressions[0]


def _check(item: Any, prepared: Prepared) -> None:
    from sqlglot import exp

    for node in item.walk():
        kind = type(node).__name__
        if not _ALLOWED.fullmatch(kind):
            construct = {"Select": "a query", "Subquery": "a query", "Window": "OVER"}.get(kind, kind.upper())
            raise ExpressionError(f"{construct} is not supported in a transform", _offset(node, prepared))
        if isinstance(node, exp.Column) and node.table:
            raise ExpressionError(
                f"expected a column, found {node.sql(dialect=DIALECT)!r}: the name has no table before it",
                _offset(node, prepared),
            )
        if isinstance(node, exp.Star) and node is not item:
            raise ExpressionError("'*' stands for all columns only by itself, between commas", _offset(node, prepared))


def _unknown(name: str) -> str:
    if name.upper() in UNSUPPORTED_IN_PIPELINES:
        return f"function {name} is not supported: {UNSUPPORTED_IN_PIPELINES[name.upper()]}"
    close = closest(name.upper(), (*FUNCTIONS, *OWN_SYNTAX), cutoff=0.7)
    return f"unknown function {name!r}" + (f"; did you mean {close}?" if close else "; see the list in the docs")


def _offset(node: Any, prepared: Prepared) -> int:
    """Return the place of a node in the user's text: that of the first word in it that sqlglot knows the place of."""
    from sqlglot import exp

    calls = [
        prepared.calls[call.name].offset
        for call in node.find_all(exp.Anonymous)
        if call.name.startswith(CALL) and call.name in prepared.calls
    ]
    starts = [descendant.meta["start"] for descendant in node.walk() if descendant.meta.get("start") is not None]
    prefix = _prefix_length(node)
    return min([*calls, *(prepared.offset_of(start - prefix) for start in starts)], default=0)


def _prefix_length(node: Any) -> int:
    root = node.root()
    return len("SELECT 1 WHERE ") if root.args.get("where") else len("SELECT ")
