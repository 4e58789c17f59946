"""Functions of Flink's SQL that Flink CDC, and so a pipeline, does not have."""

from __future__ import annotations

import re
from collections.abc import Sequence

from millrace_catalog.expressions.function import Function, Sql, UnknownTypeError, first_type
from millrace_catalog.expressions.value_types import is_integer, kind_of
from millrace_catalog.types import timestamp_ltz


def _truncate(arguments: Sequence[Sql]) -> str:
    """Return a number without the digits behind a place, which counts to the left of the point below 0."""
    number, digits = arguments[0], arguments[1] if len(arguments) == 2 else Sql("0")
    kind = kind_of(number.type)
    if not re.fullmatch(r"-?\d+", digits):
        raise ValueError(f"TRUNCATE takes a whole number of digits, not {digits}")
    if is_integer(number.type):
        power = 10 ** -int(digits) if digits.startswith("-") else 1
        return f"CAST(({number}) - ({number}) % {power} AS {kind})"
    if kind == "DECIMAL":
        return _toward_zero(number, digits)
    if kind in {"FLOAT", "DOUBLE"}:
        return f"CAST({_toward_zero(f'CAST(CAST({number} AS STRING) AS DECIMAL(38, 18))', digits)} AS {kind})"
    raise UnknownTypeError(
        f"the type of {number} in TRUNCATE is not known here: write TRUNCATE(CAST({number} AS type))"
    )


def _toward_zero(number: str, digits: str) -> str:
    return f"CASE WHEN {number} < 0 THEN ceil({number}, {digits}) ELSE floor({number}, {digits}) END"


QUERIES: dict[str, Function] = {
    "CURRENT_ROW_TIMESTAMP": Function(0, 0, lambda _: "current_timestamp()", timestamp_ltz(3), "respelt"),
    "TRUNCATE": Function(1, 2, _truncate, first_type, "respelt"),
}
