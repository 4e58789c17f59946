"""Watermarks: from the reference's expressions to the delays of Spark's ``withWatermark``."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

import sqlglot
from sqlglot import expressions as exp

from millrace_catalog.types.identifiers import quote_name
from millrace_sql.errors import SqlError
from millrace_sql.statements import Watermark

_UNITS_MS = {"SECOND": 1_000, "MINUTE": 60_000, "HOUR": 3_600_000, "DAY": 86_400_000, "WEEK": 604_800_000}


def watermark_delay_ms(watermark: Watermark) -> int:
    """Return how far a watermark stays behind its column, in milliseconds.

    Raises:
        SqlError: Its expression is neither the column nor the column minus an interval.
    """
    try:
        tree = sqlglot.parse_one(watermark.expression.text, read="spark")
    except sqlglot.errors.SqlglotError:
        tree = None
    while isinstance(tree, exp.Paren):
        tree = tree.this
    if _is_column(tree, watermark.column):
        return 0
    if isinstance(tree, exp.Sub) and _is_column(tree.this, watermark.column):
        delay = _interval_ms(tree.expression)
        if delay is not None and delay >= 0:
            return delay
    name = quote_name(watermark.column)
    raise SqlError(
        f"watermark of {name}: expected {name} or {name} - INTERVAL '5' SECOND, with SECOND, MINUTE, HOUR or DAY; for "
        f"another expression, put the watermark on a computed column",
        watermark.expression.position,
    )


def _is_column(tree: object, name: str) -> bool:
    return isinstance(tree, exp.Column) and len(tree.parts) == 1 and tree.name.lower() == name.lower()


def _interval_ms(tree: object) -> int | None:
    if not isinstance(tree, exp.Interval) or not isinstance(tree.this, exp.Literal):
        return None
    unit = str(tree.args.get("unit") or "").upper().removesuffix("S")
    try:
        return int(Decimal(tree.this.name) * _UNITS_MS[unit])
    except (InvalidOperation, KeyError, ValueError):
        return None
