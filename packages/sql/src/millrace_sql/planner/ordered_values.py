"""Aggregates that depend on the order of rows: LISTAGG, ARRAY_AGG, FIRST_VALUE and LAST_VALUE.

Spark's own take the rows of a group in any order once a task has more than 128 groups. A stage of Python keeps the
values as they arrive. A row that is taken away takes the earliest of its values with it, as in the reference
(``ListAggWithRetractAggFunction``, ``FirstValueWithRetractAggFunction``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from sqlglot import exp

from millrace_sql.planner.relations import spark_sql

OrderedKind = Literal["list", "distinct_list", "first", "last"]
ORDERED_KINDS: tuple[OrderedKind, ...] = ("list", "distinct_list", "first", "last")
"""All values in the order in which they came, those that differ, and the first or last of rows that stay."""


@dataclass(frozen=True)
class AggregateCall:
    """A call of an aggregate function, with its clauses.

    Attributes:
        function: The call itself.
        condition: The condition of FILTER; empty without it.
        ignores_nulls: True after IGNORE NULLS, False after RESPECT NULLS, None where neither is written.
    """

    function: Any
    condition: str = ""
    ignores_nulls: bool | None = None

    @classmethod
    def of(cls, node: exp.Expr) -> AggregateCall:
        """Return the call within the nodes of its clauses."""
        condition, ignores_nulls = "", None
        while isinstance(node, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
            if isinstance(node, exp.Filter):
                condition = spark_sql(node.expression.this)
            else:
                ignores_nulls = isinstance(node, exp.IgnoreNulls)
            node = node.this
        return cls(node, condition, ignores_nulls)

    @property
    def is_ordered(self) -> bool:
        """True when the result depends on the order of the rows, and no ORDER BY within the call says which it is."""
        ordered = exp.ArrayAgg | exp.GroupConcat | exp.First | exp.FirstValue | exp.Last | exp.LastValue
        return isinstance(self.function, ordered) and self.function.find(exp.Order) is None


def ordered_value(call: AggregateCall, column: Callable[[OrderedKind, str], str], *, is_changelog: bool) -> str | None:
    """Return the expression of a call over what is kept of its group; None where it cannot be kept.

    Args:
        call: The call.
        column: Returns the column of values that are kept, by their kind and the array of a row's value, NULL for none.
        is_changelog: Whether rows may be taken away again.
    """
    function = call.function
    distinct = function.this if isinstance(function.this, exp.Distinct) else None
    if distinct is not None and len(distinct.expressions) > 1:
        return None
    value = spark_sql(distinct.expressions[0] if distinct is not None else function.this)
    if isinstance(function, exp.GroupConcat):
        separator = function.args.get("separator")
        texts = column(_kind(distinct), _array(f"CAST({value} AS STRING)", call, ignores_nulls=True))
        joined = f"ARRAY_JOIN({texts}, {spark_sql(separator) if separator is not None else repr('')})"
        return f"CASE WHEN SIZE({texts}) > 0 THEN {joined} END"
    if isinstance(function, exp.ArrayAgg):
        return column(_kind(distinct), _array(value, call, ignores_nulls=call.ignores_nulls is not False))
    if distinct is not None:
        return None
    is_first = isinstance(function, exp.First | exp.FirstValue)
    kind: OrderedKind = "list" if is_changelog else "first" if is_first else "last"
    array = _array(value, call, ignores_nulls=bool(call.ignores_nulls))
    return f"TRY_ELEMENT_AT({column(kind, array)}, {1 if is_first else -1})"


def _kind(distinct: exp.Distinct | None) -> OrderedKind:
    return "list" if distinct is None else "distinct_list"


def _array(value: str, call: AggregateCall, *, ignores_nulls: bool) -> str:
    conditions = [f"({call.condition})"] if call.condition else []
    conditions += [f"({value}) IS NOT NULL"] if ignores_nulls else []
    return f"CASE WHEN {' AND '.join(conditions)} THEN ARRAY({value}) END" if conditions else f"ARRAY({value})"


def add_ordered(state: dict[str, Any], kind: str, rows: list[tuple[str, int]]) -> dict[str, Any]:
    """Return the values that are kept of a group with signed rows of a micro-batch, in their order.

    Args:
        state: The values of the group: ``values``, and ``owed``, the numbers of values that were taken away before they
            came; the numbers of all values for a kind of values that differ.
        kind: One of `ORDERED_KINDS`.
        rows: The texts of values, with 1 for one that is added and -1 for one that is taken away.
    """
    if kind == "distinct_list":
        for text, sign in rows:
            state[text] = state.get(text, 0) + sign
            if not state[text]:
                del state[text]
        return state
    values, owed = state.get("values", []), state.get("owed", {})
    for text, sign in rows:
        if sign > 0 and text in owed:
            owed = {**owed, text: owed[text] - 1} if owed[text] > 1 else {k: v for k, v in owed.items() if k != text}
        elif sign > 0:
            values.append(text)
        elif text in values:
            values.remove(text)
        else:
            owed = {**owed, text: owed.get(text, 0) + 1}
    values = {"first": values[:1], "last": values[-1:]}.get(kind, values)
    return {**({"values": values} if values else {}), **({"owed": owed} if owed else {})}


def ordered_texts(state: dict[str, Any], kind: str) -> list[str]:
    """Return the texts of the values that are kept of a group, in their order."""
    if kind == "distinct_list":
        return [text for text, count in state.items() if count > 0]
    texts: list[str] = state.get("values", [])
    return texts
