"""Functions of dates, times and timestamps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from millrace_catalog.expressions.function import Function, InQueries, Sql, UnknownTypeError, literal_text, same
from millrace_catalog.expressions.value_types import is_integer, kind_of
from millrace_catalog.types import BIGINT, DATE, INT, STRING, DataType, time, timestamp, timestamp_ltz

UNITS = ("SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "YEAR")
"""The units of TIMESTAMPADD and TIMESTAMPDIFF in pipelines."""

_PARTS = {
    "YEAR": "year",
    "QUARTER": "quarter",
    "MONTH": "month",
    "WEEK": "weekofyear",
    "DAY": "dayofmonth",
    "DOY": "dayofyear",
    "DOW": "dayofweek",
    "HOUR": "hour",
    "MINUTE": "minute",
    "SECOND": "second",
}
_PART_FUNCTIONS = {
    **{name: name for name in ("YEAR", "QUARTER", "MONTH", "WEEK", "HOUR", "MINUTE", "SECOND")},
    "DAYOFMONTH": "DAY",
    "DAYOFWEEK": "DOW",
    "DAYOFYEAR": "DOY",
}
_LTZ = timestamp_ltz(3)
_DEFAULT_FORMAT = "'yyyy-MM-dd HH:mm:ss'"
# A text that TO_TIMESTAMP takes without a format: digits behind the milliseconds are cut off
_TIMESTAMP_TEXT = r"'^([0-9]{4}-[0-9]{1,2}-[0-9]{1,2}( [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(\\.[0-9]{0,3})?)?)[0-9]*$'"


def check_unit(text: str) -> str:
    """Return a unit of time in upper case.

    Raises:
        ValueError: It is none.
    """
    unit = (literal_text(text) or text).upper()
    if unit not in UNITS:
        raise ValueError(f"expected a unit of time out of {', '.join(UNITS)}, found {text!r}")
    return unit


def _part(unit: str, value: str) -> str:
    return f"CAST({_PARTS[unit]}({value}) AS BIGINT)"


def _part_function(name: str) -> Function:
    unit = _PART_FUNCTIONS[name]
    in_queries: InQueries = "respelt" if name == "WEEK" else "same"
    return Function(1, 1, lambda arguments: _part(unit, arguments[0]), BIGINT, in_queries)


def _extract(arguments: Sequence[Sql]) -> str:
    unit, value = arguments[0].upper(), arguments[1]
    if unit not in _PARTS:
        raise ValueError(f"EXTRACT takes {', '.join(_PARTS)}, not {arguments[0]}")
    return _part(unit, value)


def _extract_in_query(arguments: Sequence[Sql]) -> str:
    """Return EXTRACT of any unit; Spark's SECOND has a fraction."""
    unit, value = arguments[0].upper(), arguments[1]
    extracted = f"EXTRACT({unit} FROM {value})"
    return f"CAST({f'floor({extracted})' if unit == 'SECOND' else extracted} AS BIGINT)"


def _date_format(arguments: Sequence[Sql]) -> str:
    value, pattern = arguments
    if kind_of(value.type) == "TIME":
        return f"date_format(CAST(concat('1970-01-01 ', CAST({value} AS STRING)) AS TIMESTAMP_NTZ), {pattern})"
    return f"date_format({value}, {pattern})"


def _date_format_tz(arguments: Sequence[Sql]) -> str:
    value, pattern, zone = arguments if len(arguments) == 3 else (arguments[0], _DEFAULT_FORMAT, arguments[1])
    kind = kind_of(value.type)
    if kind == "TIMESTAMP":
        return f"date_format({value}, {pattern})"
    if kind not in {"TIMESTAMP_LTZ", "TIMESTAMP_TZ"}:
        raise UnknownTypeError(
            "DATE_FORMAT_TZ takes a TIMESTAMP or a TIMESTAMP_LTZ: write CAST(x AS TIMESTAMP_LTZ(3)) for another value"
        )
    return f"date_format(convert_timezone(current_timezone(), {zone}, CAST({value} AS TIMESTAMP_NTZ)), {pattern})"


def _to_date(arguments: Sequence[Sql]) -> str:
    """Return a call that is NULL for a text that is no date."""
    value, *pattern = arguments
    kind = kind_of(value.type)
    if not pattern and kind.startswith(("DATE", "TIMESTAMP")):
        return f"CAST({value} AS DATE)"
    return f"try_to_date({', '.join(arguments)})" if kind == "STRING" or pattern else f"TRY_CAST({value} AS DATE)"


def _to_timestamp(arguments: Sequence[Sql]) -> str:
    """Return a call that is NULL for a text that is no timestamp, and whose result can have a watermark."""
    if len(arguments) == 2:
        return f"try_to_timestamp({', '.join(arguments)})"
    return f"TRY_CAST(regexp_extract({arguments[0]}, {_TIMESTAMP_TEXT}, 1) AS TIMESTAMP)"


def _to_timestamp_ltz(arguments: Sequence[Sql]) -> str:
    value, *others = arguments
    if len(others) == 1 and others[0] in {"0", "3"}:
        return f"{'timestamp_seconds' if others[0] == '0' else 'timestamp_millis'}({value})"
    if len(others) == 2:
        parsed = f"to_timestamp_ntz({value}, {others[0]})"
        return f"CAST(convert_timezone({others[1]}, current_timezone(), {parsed}) AS TIMESTAMP)"
    if others and kind_of(others[0].type) == "STRING":
        return f"to_timestamp_ltz({', '.join(arguments)})"
    if not others and is_integer(value.type):
        return f"timestamp_millis({value})"
    if not others and kind_of(value.type) in {"STRING", "CHAR", "VARCHAR"}:
        return f"to_timestamp_ltz({value})"
    raise UnknownTypeError(
        "TO_TIMESTAMP_LTZ takes a number and its precision, 0 or 3, or a text, its format and its time zone, which by "
        "default is that of 'local-time-zone'"
    )


def _months_between(start: str, end: str) -> str:
    """Return the number of months as Flink's SQL counts them: February 29 is one month after January 31."""
    full = f"timestampdiff(MONTH, {start}, {end})"
    first, last = (f"CAST({value} AS DATE)" for value in (start, end))
    back = f"timestampdiff(MONTH, {last}, {first})"
    backward = f"-({back} + if(add_months({last}, CAST({back} AS INT) + 1) <= {first}, 1, 0))"
    moved = f"timestampadd(MONTH, CAST({backward} AS INT), {start})"
    return (
        f"if({last} >= {first}, "
        f"{full} + if(timestampadd(MONTH, CAST({full} AS INT) + 1, {start}) <= {end}, 1, 0) "
        f"- if({end} < {start}, 1, 0), "
        f"{backward} - if(CAST({moved} AS DATE) = {last} AND {end} < {moved}, 1, 0))"
    )


def _timestampdiff(arguments: Sequence[Sql]) -> str:
    unit, start, end = arguments[0].upper(), f"({arguments[1]})", f"({arguments[2]})"
    months = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}.get(unit)
    if months is None:
        return f"timestampdiff({unit}, {arguments[1]}, {arguments[2]})"
    return f"CAST(({_months_between(start, end)}) DIV {months} AS INT)"


def _calendar_diff(arguments: Sequence[Sql]) -> str:
    """Return the difference as Flink CDC counts it: months and years are those of the calendar."""
    unit, start, end = arguments
    if unit == "YEAR":
        return f"(year({end}) - year({start}))"
    if unit == "MONTH":
        return f"(year({end}) * 12 + month({end}) - year({start}) * 12 - month({start}))"
    return f"timestampdiff({unit}, {start}, {end})"


def _third_type(arguments: Sequence[Sql]) -> DataType | None:
    return arguments[2].type if len(arguments) == 3 else None


def _now(render: Callable[[Sequence[Sql]], str], result: DataType) -> Function:
    return Function(0, 0, render, result)


_NOW = _now(lambda _: "current_timestamp()", _LTZ)
_TIME = _now(lambda _: "current_time(0)", time(0))
_TIMESTAMPDIFF = Function(3, 3, _timestampdiff, INT, "different", takes_unit=True, in_pipelines=_calendar_diff)

TIMES: dict[str, Function] = {
    **{name: _part_function(name) for name in _PART_FUNCTIONS},
    "CURRENT_DATE": same("current_date", 0, 0, DATE),
    "CURRENT_TIME": _TIME,
    "CURRENT_TIMESTAMP": _NOW,
    "DATE_ADD": Function(2, 2, lambda arguments: f"CAST(date_add({arguments[0]}, {arguments[1]}) AS STRING)", STRING),
    "DATE_FORMAT": Function(2, 2, _date_format, STRING),
    "DATE_FORMAT_TZ": Function(2, 3, _date_format_tz, STRING),
    "EXTRACT": Function(
        2, 2, _extract_in_query, BIGINT, "different", frozenset({"FROM"}), takes_unit=True, in_pipelines=_extract
    ),
    "FROM_UNIXTIME": same("from_unixtime", 1, 2, STRING),
    "LOCALTIME": _TIME,
    "LOCALTIMESTAMP": same("localtimestamp", 0, 0, timestamp(3)),
    "NOW": _NOW,
    "PROCTIME": Function(0, 0, lambda _: "current_timestamp()", _LTZ, "respelt"),
    "TIMESTAMPADD": Function(
        3, 3, lambda arguments: f"timestampadd({', '.join(arguments)})", _third_type, takes_unit=True
    ),
    "TIMESTAMPDIFF": _TIMESTAMPDIFF,
    "TIMESTAMP_DIFF": _TIMESTAMPDIFF,
    "TO_DATE": Function(1, 2, _to_date, DATE, "different"),
    "TO_TIMESTAMP": Function(
        1,
        2,
        _to_timestamp,
        timestamp(3),
        "different",
        in_pipelines=lambda arguments: f"to_timestamp_ntz({', '.join(arguments)})",
    ),
    "TO_TIMESTAMP_LTZ": Function(1, 3, _to_timestamp_ltz, _LTZ, "different"),
    "UNIX_TIMESTAMP": same("unix_timestamp", 0, 2, BIGINT),
}
