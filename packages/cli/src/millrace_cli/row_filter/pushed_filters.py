"""The filters that Spark would push to a read, of the text of ``--where``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from pyspark.sql.datasource import EqualTo, Filter, GreaterThan, GreaterThanOrEqual, In, LessThan, LessThanOrEqual, Not

from millrace.options.metadata import parse_metadata_columns
from millrace_cli.errors import CommandError
from millrace_cli.row_filter import syntax
from millrace_cli.row_filter.evaluate import RowFilter

_OPERATORS: dict[str, type[Any]] = {
    "=": EqualTo,
    "==": EqualTo,
    ">": GreaterThan,
    ">=": GreaterThanOrEqual,
    "<": LessThan,
    "<=": LessThanOrEqual,
}
_MIRRORED = {">": "<", ">=": "<=", "<": ">", "<=": ">="}
_NEGATED = ("<>", "!=")


def pushed_filters(where: RowFilter, options: Mapping[str, str]) -> list[Filter]:
    """Return the comparisons of a column with constants that all rows must fulfil, as Spark would push them.

    Args:
        where: The conditions.
        options: The options of the read, which name the columns of timestamps.

    Raises:
        CommandError: A text is compared with a timestamp, and is no time.
    """
    named = options.get("metadata.columns")
    times = (
        {"timestamp"} if named is None else {c.column for c in parse_metadata_columns(named) if c.key == "timestamp"}
    )
    translator = _FilterTranslator(where.text, times)
    filters = (translator.filter_of(condition) for condition in _conjuncts(where.condition))
    return [pushed for pushed in filters if pushed is not None]


def _conjuncts(condition: syntax.Condition) -> Iterator[syntax.Condition]:
    if isinstance(condition, syntax.Combination) and condition.operator == "and":
        for part in condition.conditions:
            yield from _conjuncts(part)
    else:
        yield condition


class _FilterTranslator:
    def __init__(self, text: str, times: set[str]) -> None:
        self._text = text
        self._times = times

    def filter_of(self, condition: syntax.Condition) -> Filter | None:
        """Return a condition as a filter; None for one that Spark does not push."""
        match condition:
            case syntax.Not(inner):
                pushed = self.filter_of(inner)
                return None if pushed is None else Not(pushed)
            case syntax.Comparison():
                return self._comparison(condition)
            case syntax.Combination("or", conditions):
                return self._one_of(conditions)
            case _:
                return None

    def _one_of(self, conditions: tuple[syntax.Condition, ...]) -> Filter | None:
        filters = [self.filter_of(condition) for condition in conditions]
        equal = [pushed for pushed in filters if isinstance(pushed, EqualTo)]
        if len(equal) < len(filters) or len({pushed.attribute for pushed in equal}) > 1:
            return None
        return In(equal[0].attribute, tuple(pushed.value for pushed in equal))

    def _comparison(self, comparison: syntax.Comparison) -> Filter | None:
        left, operator, right = comparison.left, comparison.operator, comparison.right
        if isinstance(left, syntax.Constant):
            left, operator, right = right, _MIRRORED.get(operator, operator), left
        if not isinstance(left, syntax.ColumnPath) or not isinstance(right, syntax.Constant) or left.key is not None:
            return None
        value = self._value(left, right)
        if operator in _NEGATED:
            return Not(EqualTo(left.names, value))
        pushed: Filter = _OPERATORS[operator](left.names, value)
        return pushed

    def _value(self, column: syntax.ColumnPath, constant: syntax.Constant) -> Any:
        if constant.kind == "number":
            return int(constant.text) if constant.text.lstrip("+-").isdecimal() else float(constant.text)
        if column.names[0] not in self._times:
            return constant.text
        try:
            time = datetime.fromisoformat(constant.text)
        except ValueError:
            raise self._no_time(constant) from None
        return time if time.tzinfo else time.replace(tzinfo=UTC)

    def _no_time(self, constant: syntax.Constant) -> CommandError:
        problem = f"expected a time such as '2026-11-27 16:00', in UTC without a zone; found {constant.text!r}"
        return syntax.filter_error(self._text, constant.position, problem)
