"""The filters that Spark pushes to data sources, evaluated on one row as SQL does."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    IsNull,
    LessThan,
    LessThanOrEqual,
    Not,
)

COMPARISONS: dict[type[Filter], Callable[[Any, Any], bool]] = {
    EqualTo: operator.eq,
    EqualNullSafe: operator.eq,
    GreaterThan: operator.gt,
    GreaterThanOrEqual: operator.ge,
    LessThan: operator.lt,
    LessThanOrEqual: operator.le,
}


def passes(row: Mapping[str, Any], filters: Iterable[Filter]) -> bool:
    """Return whether all filters are true of a row."""
    return all(_evaluate(condition, row) is True for condition in filters)


def _evaluate(condition: Filter, row: Mapping[str, Any]) -> bool | None:
    if isinstance(condition, Not):
        negated = _evaluate(condition.child, row)
        return None if negated is None else not negated
    value = row[condition.attribute[0]]
    match condition:
        case IsNull():
            return value is None
        case IsNotNull():
            return value is not None
        case EqualNullSafe():
            return bool(value == condition.value)
        case In():
            if value is not None and value in condition.value:
                return True
            return None if value is None or None in condition.value else False
        case _:
            return None if value is None else COMPARISONS[type(condition)](value, condition.value)
