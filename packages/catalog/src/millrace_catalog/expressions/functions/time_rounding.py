"""FLOOR and CEIL of times to a unit, as the reference computes them."""

from __future__ import annotations

from millrace_catalog.expressions.function import Sql, UnknownTypeError
from millrace_catalog.expressions.value_types import kind_of

_IN_DAY = {
    "SECOND": "make_dt_interval(0, 0, 0, {0} % 1)",
    "MINUTE": "make_dt_interval(0, 0, 0, {0})",
    "HOUR": "make_dt_interval(0, 0, {1}, {0})",
    "DAY": "make_dt_interval(0, {2}, {1}, {0})",
}
"""The time since the beginning of each unit, of seconds, minutes and hours."""

_OF_DAYS = {
    "WEEK": "date_sub({0}, dayofweek({0}) - 1)",
    "MONTH": "trunc({0}, 'MONTH')",
    "QUARTER": "trunc({0}, 'QUARTER')",
    "YEAR": "trunc({0}, 'YEAR')",
}
"""The first day of each unit, of a date: weeks begin on Sunday."""

_NEXT = {
    "SECOND": "INTERVAL '1' SECOND",
    "MINUTE": "INTERVAL '1' MINUTE",
    "HOUR": "INTERVAL '1' HOUR",
    "DAY": "INTERVAL '1' DAY",
    "WEEK": "INTERVAL '7' DAY",
    "MONTH": "INTERVAL '1' MONTH",
    "QUARTER": "INTERVAL '3' MONTH",
    "YEAR": "INTERVAL '1' YEAR",
}


def round_time(name: str, value: Sql, unit: str) -> Sql:
    """Return ``FLOOR(value TO unit)`` or ``CEIL(value TO unit)`` in Spark SQL, of the type of the value.

    Args:
        name: FLOOR, CEIL or CEILING.
        value: A date or a timestamp.
        unit: The unit.

    Raises:
        ValueError: There is no such unit here, or not for dates.
        UnknownTypeError: The type of the value is not known, or no time.
    """
    unit, kind = unit.upper(), kind_of(value.type)
    if unit not in _NEXT:
        raise ValueError(f"{name}(x TO {unit}): expected one of {', '.join(_NEXT)}")
    if kind not in {"DATE", "TIMESTAMP", "TIMESTAMP_LTZ"}:
        shown = "is not known here" if value.type is None else f"is {value.type}"
        raise UnknownTypeError(
            f"the type of {value} {shown}: {name}(x TO {unit}) takes a DATE or a TIMESTAMP, "
            f"as in {name}(CAST({value} AS TIMESTAMP(3)) TO {unit})"
        )
    if kind == "DATE":
        return Sql(_of_date(name, value, unit), value.type)
    local = value if kind == "TIMESTAMP" else f"CAST({value} AS TIMESTAMP_NTZ)"
    moved = _of_timestamp(name, local, unit)
    # The distance of the local times: clocks that change between the two would count otherwise, but not in Flink
    return Sql(moved if kind == "TIMESTAMP" else f"({value} + ({moved} - {local}))", value.type)


def _of_date(name: str, value: str, unit: str) -> str:
    if unit in _OF_DAYS:
        return _ceil_of_date(value, unit) if name != "FLOOR" else _OF_DAYS[unit].format(value)
    if name != "FLOOR":
        raise ValueError(f"{name} of a DATE takes {', '.join(_OF_DAYS)}, not {unit}")
    return f"({value})"


def _ceil_of_date(value: str, unit: str) -> str:
    first = _OF_DAYS[unit].format(value)
    return f"if({first} = {value}, {value}, CAST({first} + {_NEXT[unit]} AS DATE))"


def _of_timestamp(name: str, value: str, unit: str) -> str:
    if unit in _OF_DAYS:
        # Flink rounds up by the date alone: noon on the first of a month is in that month
        day = f"CAST({value} AS DATE)"
        rounded = _ceil_of_date(day, unit) if name != "FLOOR" else _OF_DAYS[unit].format(day)
        return f"CAST({rounded} AS TIMESTAMP_NTZ)"
    parts = (f"EXTRACT(SECOND FROM {value})", f"minute({value})", f"hour({value})")
    floor = f"({value} - {_IN_DAY[unit].format(*parts)})"
    return floor if name == "FLOOR" else f"if({floor} = {value}, {value}, {floor} + {_NEXT[unit]})"
