"""Columns that have another value when a row is computed again, such as the time of the micro-batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sqlglot import exp
from sqlglot.errors import SqlglotError

from millrace_sql.planner.model import InputColumn
from millrace_sql.planner.relations import Relation, function_calls, output_name, parse_expression

_VOLATILE = {
    "CURRENT_DATE",
    "CURRENT_TIMESTAMP",
    "LOCALTIMESTAMP",
    "MONOTONICALLY_INCREASING_ID",
    "NOW",
    "RAND",
    "RANDN",
    "RANDOM",
    "SHUFFLE",
    "UUID",
}


class VolatileColumns(NamedTuple):
    """Columns of a table or query, in lower case.

    Attributes:
        functions: The columns with another value when they are computed again, and the functions that make them so.
        processing_time: The columns that have the time of the micro-batch.
    """

    functions: Mapping[str, str]
    processing_time: frozenset[str]


def volatile_function(node: exp.Expr, columns: Mapping[str, str]) -> str:
    """Return what makes an expression return something else for the same row later; empty for nothing.

    Args:
        node: The expression.
        columns: The volatile columns that it may read, and their functions.
    """
    if call := next((text for name, text in function_calls(node) if name in _VOLATILE), ""):
        return call
    read = (column.name for column in node.find_all(exp.Column) if column.name.lower() in columns)
    return next((f"{name} AS {columns[name.lower()]}" for name in read), "")


def computed_columns(columns: Iterable[InputColumn]) -> VolatileColumns:
    """Return the volatile columns of a table."""
    functions: dict[str, str] = {}
    processing_time: set[str] = set()
    for column in columns:
        if column.expression is None:
            continue
        try:
            tree = parse_expression(column.expression)
        except SqlglotError:  # only Spark can read it
            continue
        if function := volatile_function(tree, {}):
            functions[column.name.lower()] = function
        if _is_now(tree):
            processing_time.add(column.name.lower())
    return VolatileColumns(functions, frozenset(processing_time))


def selected_columns(node: exp.Select, relation: Relation) -> VolatileColumns:
    """Return the volatile columns of a query's result.

    Args:
        node: The query.
        relation: What it selects from.
    """
    functions: dict[str, str] = {}
    processing_time: set[str] = set()
    for item in node.expressions:
        if item.is_star:
            star = item if isinstance(item, exp.Star) else item.this
            hidden = {name.name.lower() for name in star.args.get("except_") or ()}
            functions |= {name: function for name, function in relation.volatile.items() if name not in hidden}
            processing_time |= relation.processing_time - hidden
            continue
        name, value = output_name(item).lower(), item.unalias()
        is_column = isinstance(value, exp.Column)
        if function := volatile_function(value, relation.volatile):
            functions[name] = relation.volatile[value.name.lower()] if is_column else function
        if _is_now(value) or (is_column and value.name.lower() in relation.processing_time):
            processing_time.add(name)
    return VolatileColumns(functions, frozenset(processing_time))


def _is_now(tree: Any) -> bool:

    return isinstance(tree, exp.CurrentTimestamp)
