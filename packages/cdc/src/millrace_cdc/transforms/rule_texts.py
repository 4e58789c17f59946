"""The texts of a rule, parsed, with its calls of user-defined functions taken out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from millrace_catalog.expressions.parsing import ParsedExpression, parse_condition, parse_projection
from millrace_catalog.expressions.scanner import ExpressionError
from millrace_cdc.definitions.rules import TransformRule
from millrace_cdc.functions.calls import CallExtractor, FunctionCall, is_call
from millrace_cdc.functions.user_function import UserFunction


class FieldProblem(NamedTuple):
    """A problem of a rule.

    Attributes:
        field: The key of the rule.
        sentence: The problem.
        offset: The character of the value that it is at.
    """

    field: str
    sentence: str
    offset: int = 0


@dataclass(frozen=True)
class ParsedCall:
    """A call of a user-defined function.

    Attributes:
        call: Its text and place.
        field: The key of the rule that it is in.
        function: The function.
        arguments: Its arguments, in which inner calls are columns.
    """

    call: FunctionCall
    field: str
    function: UserFunction
    arguments: tuple[ParsedExpression, ...]


class RuleTexts:
    """The projection and the filter of a rule.

    Args:
        rule: The rule.
        functions: User-defined functions by their names, in upper case.
        first: The number of calls of other rules.
    """

    def __init__(self, rule: TransformRule, functions: Mapping[str, UserFunction], first: int = 0) -> None:
        self._functions = functions
        extractor = CallExtractor(functions, first)
        texts = {"projection": rule.projection, "filter": rule.filter}
        self._texts: dict[str, str | None] = {}
        self._calls: list[tuple[str, FunctionCall]] = []
        for field, text in texts.items():
            self._texts[field] = None if text is None else extractor.extract(text)
            self._calls += [(field, call) for call in extractor.calls[len(self._calls) :]]

    def projection(self) -> tuple[ParsedExpression, ...] | None:
        """Return the items of the projection; None for all columns.

        Raises:
            ExpressionError: It is none.
        """
        text = self._texts["projection"]
        return None if text is None else tuple(map(_without_call_name, parse_projection(text)))

    def condition(self) -> ParsedExpression | None:
        """Return the filter; None for all rows.

        Raises:
            ExpressionError: It is none.
        """
        text = self._texts["filter"]
        return None if text is None else parse_condition(text)

    def calls(self) -> tuple[ParsedCall, ...]:
        """Return the calls of user-defined functions, inner ones first.

        Raises:
            ExpressionError: An argument is no expression.
        """
        return tuple(
            ParsedCall(call, field, self._functions[call.function], tuple(map(parse_condition, _texts(call))))
            for field, call in self._calls
        )

    def call_problems(self) -> Iterator[FieldProblem]:
        """Yield the problems of the arguments of calls."""
        for field, call in self._calls:
            for text, place in call.arguments:
                try:
                    parse_condition(text)
                except ExpressionError as error:
                    yield FieldProblem(field, f"argument of {call.function.lower()}: {error}", place + error.offset)


def _texts(call: FunctionCall) -> Iterator[str]:
    return (text for text, _ in call.arguments)


def _without_call_name(item: ParsedExpression) -> ParsedExpression:
    """Return an item that has the name of a call without it: it is no column."""
    if item.column is None or not is_call(item.column):
        return item
    return replace(item, name=None if item.name == item.column else item.name, column=None)
