"""ROW_NUMBER() OVER (...), and the numbers that the query around it keeps, as trees have them."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from millrace_sql.planner.query_text import QueryText
from millrace_sql.planner.relations import Bounds, Order, Ranking, Relation, Source, output_name

_HOW = "write SELECT ... FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY ... ORDER BY ...) AS rn FROM t) WHERE rn = 1"
HOW_TO_BOUND = f"ROW_NUMBER() in a stream needs a query around it that keeps the first numbers: {_HOW}"
_RANKS = {"RANK": "RANK", "DENSERANK": "DENSE_RANK"}


def ranking_of(
    text: QueryText, node: exp.Select, sources: tuple[Source, ...], nested: tuple[Relation, ...]
) -> Ranking | None:
    """Return the numbering of a SELECT; None for one without ROW_NUMBER.

    Raises:
        SqlError: It numbers rows in a way that a stream cannot.
    """
    windows = [item for item in node.find_all(exp.Window) if item.find_ancestor(exp.Select) is node]
    for window in windows:
        name = type(window.this).__name__.upper()
        if name in _RANKS:
            message = f"{_RANKS[name]}() of a stream is not known to the reference either: {_HOW}"
            raise text.error(message, window)
    numbers = [window for window in windows if isinstance(window.this, exp.RowNumber)]
    if not numbers:
        return None
    item = next((item for item in node.expressions if item.unalias() is numbers[0]), None)
    if len(windows) > 1 or item is None or numbers[0].args.get("spec"):
        raise text.error(f"ROW_NUMBER() stands alone in a column of a stream: {_HOW}", node)
    if any(node.args.get(name) for name in ("group", "distinct", "having", "limit", "qualify")):
        raise text.error(f"ROW_NUMBER() over groups: write the GROUP BY in a query within: {_HOW}", node)
    order = numbers[0].args.get("order")
    if order is None:
        raise text.error(f"ROW_NUMBER() needs an ORDER BY: {_HOW}", numbers[0])
    orders = tuple(map(_order, order.expressions))
    partition = tuple(numbers[0].args.get("partition_by") or ())
    return Ranking(text, node, output_name(item), partition, orders, sources, nested)


def _order(item: Any) -> Order:

    if not isinstance(item, exp.Ordered):
        return Order(item, is_descending=False, nulls_first=True)
    is_descending = bool(item.args.get("desc"))
    nulls_first = item.args.get("nulls_first")
    return Order(item.this, is_descending, not is_descending if nulls_first is None else bool(nulls_first))


def take_bounds(node: exp.Select, source: Source, ranking: Ranking) -> Bounds | None:
    """Take the condition of the numbers to keep out of the WHERE of a query.

    Args:
        node: The query, whose tree is changed.
        source: The numbered rows that it reads.
        ranking: Their numbering.

    Returns:
        The numbers; None where the query keeps them without end.
    """
    where = node.args.get("where")
    if where is None:
        return None
    first, last, others = 1, None, []
    for condition in where.this.flatten() if isinstance(where.this, exp.And) else [where.this]:
        limits = _limits(condition, lambda item: _is_number(item, source, ranking))
        if limits is None:
            others.append(condition)
            continue
        first = max(first, limits[0] or 1)
        last = last if limits[1] is None else limits[1] if last is None else min(last, limits[1])
    if last is None:
        return None
    node.set("where", exp.Where(this=exp.and_(*others, copy=False)) if others else None)
    return Bounds(first, last, _reads(node, source, ranking))


def _is_number(item: Any, source: Source, ranking: Ranking) -> bool:

    is_named = isinstance(item, exp.Column) and item.name.lower() == ranking.column.lower()
    return is_named and item.table.lower() in {"", source.alias.lower()}


def _limits(condition: Any, is_number: Any) -> tuple[int | None, int | None] | None:
    """Return the least and greatest number that a condition lets pass; None for a condition of something else."""
    if isinstance(condition, exp.Paren):
        return _limits(condition.this, is_number)
    if isinstance(condition, exp.Between) and is_number(condition.this):
        low, high = (_integer(condition.args[name]) for name in ("low", "high"))
        return None if low is None or high is None else (low, high)
    mirrored: dict[type, type] = {exp.EQ: exp.EQ, exp.LT: exp.GT, exp.LTE: exp.GTE, exp.GT: exp.LT, exp.GTE: exp.LTE}
    kind = type(condition)
    if kind not in mirrored:
        return None
    left, right = condition.this, condition.expression
    if is_number(right):
        left, right, kind = right, left, mirrored[kind]
    value = _integer(right)
    if value is None or not is_number(left):
        return None
    limits = {exp.EQ: (value, value), exp.LT: (None, value - 1), exp.LTE: (None, value)}
    return limits.get(kind) or ((value + 1, None) if kind is exp.GT else (value, None))


def _integer(item: Any) -> int | None:

    return int(item.name) if isinstance(item, exp.Literal) and not item.is_string and item.name.isdigit() else None


def _reads(node: exp.Select, source: Source, ranking: Ranking) -> bool:
    """Return whether a query reads the numbers, by their name or a star."""
    stars = (item for item in node.find_all(exp.Star) if not isinstance(item.parent, exp.Count))
    numbers = (item for item in node.find_all(exp.Column) if _is_number(item, source, ranking))
    inner = (source.node, node.args.get("with_"))
    return any(not _is_within(item, inner) for item in (*stars, *numbers))


def _is_within(item: Any, inner: tuple[Any, ...]) -> bool:
    while item is not None:
        if any(item is node for node in inner):
            return True
        item = item.parent
    return False
