"""The table functions of windows, by Spark's functions `window` and `session_window`."""

from __future__ import annotations

import re

from millrace_sql.planner.dialect.time_zones import has_windows_of_utc, is_utc

WINDOW_FUNCTIONS = {"TUMBLE", "HOP", "CUMULATE", "SESSION"}
SESSION_COLUMN, LARGEST_COLUMN = "__session_window", "__largest_window"
"""Columns by which the planner knows SESSION and CUMULATE."""

WINDOW_COLUMNS = {"window_start", "window_end", "window_time", SESSION_COLUMN}
"""Columns of windows, by which a stream can be grouped."""

_UNITS_MS = {
    "WEEK": 604_800_000,
    "DAY": 86_400_000,
    "HOUR": 3_600_000,
    "MINUTE": 60_000,
    "SECOND": 1000,
    "MILLISECOND": 1,
}
_DURATION = re.compile(rf"(?:INTERVAL\s+)?'?\s*(\d+)\s*'?\s*({'|'.join(_UNITS_MS)})S?\s*'?", re.IGNORECASE)
_INTERVAL = re.compile(rf"INTERVAL\s+'?\s*(\d+)\s*'?\s*({'|'.join(_UNITS_MS)})S?", re.IGNORECASE)
_NAMES = {
    "TUMBLE": ("SIZE", "OFFSET"),
    "HOP": ("SLIDE", "SIZE", "OFFSET"),
    "CUMULATE": ("STEP", "SIZE", "OFFSET"),
    "SESSION": ("GAP",),
}
_REQUIRED = {"TUMBLE": ("SIZE",), "HOP": ("SLIDE", "SIZE"), "CUMULATE": ("STEP", "SIZE"), "SESSION": ("GAP",)}


def window_select(name: str, column: str, arguments: list[str], time_zone: str) -> tuple[str, str]:
    """Return the texts before and after the table of a window function's table.

    Windows begin at multiples of local time, as in the reference; those of Spark at multiples of UTC, but of a
    TIMESTAMP without a time zone.

    Args:
        name: TUMBLE, HOP, CUMULATE or SESSION.
        column: The column of DESCRIPTOR, as it is written.
        arguments: The intervals, as they are written, with their names where they have some.
        time_zone: The session's time zone.

    Raises:
        ValueError: Spark has no such window.
    """
    intervals = dict(_named(name, arguments))
    if zero := next((key for key, length in intervals.items() if key != "OFFSET" and length.startswith("0 ")), None):
        message = f"{name}: the {zero.lower()} is 0; write an interval above it, such as INTERVAL '5' MINUTES"
        raise ValueError(message)
    if any(key not in intervals for key in _REQUIRED[name]):
        written = ", ".join(("TABLE t", "DESCRIPTOR(ts)", *(key.lower() for key in _REQUIRED[name])))
        message = f"{name} is written TABLE({name}({written})), with intervals such as INTERVAL '5' MINUTES"
        raise ValueError(message)
    if name == "SESSION":
        return f"(SELECT *, session_window({column}, '{intervals['GAP']}') AS {SESSION_COLUMN} FROM ", ")"  # noqa: S608
    is_local = not is_utc(time_zone)
    if name == "CUMULATE":
        return _cumulate(column, intervals, is_local=is_local)
    if is_local:
        return (
            f"(SELECT * EXCEPT (__window), {_local_bounds('__window.start', '__window.end', column)} FROM "  # noqa: S608
            f"(SELECT *, {_window(_local(column), intervals)} AS __window FROM ",
            "))",
        )
    return (
        "(SELECT * EXCEPT (__window), __window.start AS window_start, __window.end AS window_end, "  # noqa: S608
        f"window_time(__window) AS window_time FROM (SELECT *, {_window(column, intervals)} AS __window FROM ",
        "))",
    )


def session_gap(arguments: list[str]) -> str:
    """Return the gap of a session, as Spark writes durations.

    Raises:
        ValueError: It is none.
    """
    gap = dict(_named("SESSION", arguments)).get("GAP", "0")
    if gap.startswith("0"):
        raise ValueError("SESSION is written SESSION(ts, INTERVAL '5' MINUTE), in GROUP BY")
    return gap


def _window(column: str, intervals: dict[str, str]) -> str:
    if "OFFSET" in intervals:
        intervals = {"SLIDE": intervals["SIZE"], **intervals}
    durations = ", ".join(f"'{intervals[key]}'" for key in ("SIZE", "SLIDE", "OFFSET") if key in intervals)
    return f"window({column}, {durations})"


def check_window(arguments: list[str], time_zone: str) -> None:
    """Check that Spark's function `window` makes the windows of a time zone.

    Args:
        arguments: What it is called with, as it is written.
        time_zone: The session's time zone.

    Raises:
        ValueError: Its windows begin at other times.
    """
    if len(arguments) not in {2, 3} or is_utc(time_zone):  # four have the time at which windows begin
        return
    match = _DURATION.fullmatch(arguments[-1].strip())
    if match is None or has_windows_of_utc(time_zone, _milliseconds(f"{match[1]} {match[2]}")):
        return
    function, size = ("TUMBLE", "size") if len(arguments) == 2 else ("HOP", "slide, size")
    message = (
        f"Spark's function window makes windows that begin at multiples of UTC, not of {time_zone}: write "
        f"TABLE({function}(TABLE t, DESCRIPTOR({arguments[0].strip()}), {size})), and GROUP BY window_start, window_end"
    )
    raise ValueError(message)


def _local(column: str) -> str:
    return f"CAST({column} AS TIMESTAMP_NTZ)"


def _local_bounds(start: str, end: str, column: str) -> str:
    """Return the columns of a window from its local times, in the type of the time column, which is never NULL here."""
    ends = f"COALESCE({end}, {column})"
    return (
        f"COALESCE({start}, {column}) AS window_start, {ends} AS window_end, "
        f"{ends} - INTERVAL '0.000001' SECOND AS window_time"
    )


def _cumulate(column: str, intervals: dict[str, str], *, is_local: bool) -> tuple[str, str]:
    """Return a query that repeats each row for the window of its step, and for each larger one to the largest."""
    step_ms, size_ms = (_milliseconds(intervals[key]) for key in ("STEP", "SIZE"))
    if size_ms % step_ms:
        message = f"CUMULATE: the size, {intervals['SIZE']}, is no multiple of the step, {intervals['STEP']}"
        raise ValueError(message)
    offset = {"OFFSET": intervals["OFFSET"]} if "OFFSET" in intervals else {}
    time = _local(column) if is_local else column
    step = _window(time, {"SIZE": intervals["STEP"], **offset})
    ends = f"SEQUENCE(__step.end, {LARGEST_COLUMN}.end, INTERVAL '{step_ms / 1000:.3f}' SECOND)"
    largest = _window(time, {"SIZE": intervals["SIZE"], **offset})
    return (
        f"(SELECT * EXCEPT (__start, __end), {_local_bounds('__start', '__end', column)} FROM "  # noqa: S608
        f"(SELECT * EXCEPT (__step, {LARGEST_COLUMN}), {LARGEST_COLUMN}.start AS __start, EXPLODE({ends}) AS "
        f"__end FROM (SELECT *, {step} AS __step FROM (SELECT *, {largest} AS {LARGEST_COLUMN} FROM ",
        "))))",
    )


def _milliseconds(duration: str) -> int:
    number, unit = duration.split()
    return int(number) * _UNITS_MS[unit.upper()]


def _named(function: str, arguments: list[str]) -> list[tuple[str, str]]:
    """Return the intervals of a window by their names, as Spark writes durations."""
    named = []
    for name, argument in zip(_NAMES[function], arguments, strict=False):
        before, arrow, after = argument.partition("=>")
        match = _INTERVAL.fullmatch((after if arrow else argument).strip())
        if match is None:
            message = f"{argument.strip()!r} is no interval of a window: write one such as INTERVAL '5' MINUTES"
            raise ValueError(message)
        named.append((before.strip().upper() if arrow else name, f"{int(match[1])} {match[2].lower()}"))
    return named
