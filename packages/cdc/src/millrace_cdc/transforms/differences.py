"""Conditions that keep a row in Flink CDC and silently drop it here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from millrace_catalog.expressions.parsing import ParsedExpression
from millrace_cdc.definitions.rules import TransformRule
from millrace_cdc.errors import Problem
from millrace_cdc.functions.user_function import UserFunction
from millrace_cdc.transforms.rule_texts import RuleTexts

_COMPARISONS = ("EQ", "In", "Between", "Like")
_ANY_TEXT = re.compile(r"[%_]")
_REGULAR_EXPRESSION = re.compile(r"[\\^$\[]|\.[*+?]")


def dropped_rows(
    rules: Iterable[TransformRule], functions: Mapping[str, UserFunction] | None = None
) -> Iterator[Problem]:
    """Yield a warning for each condition of a filter that drops rows which Flink CDC keeps.

    Args:
        rules: Rules without problems.
        functions: User-defined functions by their names, in upper case.
    """
    for rule in rules:
        condition = RuleTexts(rule, functions or {}).condition()
        if condition is None:
            continue
        for node in condition.tree.walk():
            sentence = _sentence(condition, node)
            if sentence is not None:
                yield Problem(rule.position("filter", condition.offset_of(node)), f"option 'filter': {sentence}")


def _sentence(condition: ParsedExpression, node: Any) -> str | None:
    from sqlglot import exp

    if isinstance(node, exp.NEQ) and _reads_a_column(node) and not _is_checked(condition, node):
        return (
            "a row whose value is NULL is dropped, which Flink CDC keeps: write IS DISTINCT FROM in the place of '<>', "
            "or AND ... IS NOT NULL to say that it is meant"
        )
    if isinstance(node, exp.Not) and _is_comparison(node.this) and not _is_checked(condition, node):
        return (
            "a row whose value is NULL is dropped, which Flink CDC keeps: write (...) IS NOT TRUE in the place of NOT, "
            "or AND ... IS NOT NULL to say that it is meant"
        )
    if isinstance(node, exp.Like) and not isinstance(node.parent, exp.Escape) and _may_be_regular(condition, node):
        return (
            "the pattern of LIKE is SQL's, with % and _, in Flink CDC a regular expression: write "
            "REGEXP_LIKE(x, pattern) for what it means there"
        )
    return None


def _is_comparison(node: Any) -> bool:
    while type(node).__name__ == "Paren":
        node = node.this
    return type(node).__name__ in _COMPARISONS and _reads_a_column(node)


def _reads_a_column(node: Any) -> bool:
    from sqlglot import exp

    return node.find(exp.Column) is not None


def _is_checked(condition: ParsedExpression, node: Any) -> bool:
    """Return whether the condition says of all columns of a comparison what becomes of NULL."""
    from sqlglot import exp

    checked = {
        test.this.name
        for test in condition.tree.find_all(exp.Is)
        if isinstance(test.expression, exp.Null) and isinstance(test.this, exp.Column)
    }
    return {column.name for column in node.find_all(exp.Column)} <= checked


def _may_be_regular(condition: ParsedExpression, node: Any) -> bool:
    from sqlglot import exp

    if not isinstance(node.expression, exp.Literal):
        return True
    pattern = condition.text_of(node.expression)
    return not _ANY_TEXT.search(pattern) or _REGULAR_EXPRESSION.search(pattern) is not None
