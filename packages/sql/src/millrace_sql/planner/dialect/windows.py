"""The table functions of windows, by Spark's function `window`."""

from __future__ import annotations

import re

WINDOW_FUNCTIONS = {"TUMBLE", "HOP", "CUMULATE", "SESSION"}

_UNITS = "WEEK|DAY|HOUR|MINUTE|SECOND|MILLISECOND"
_INTERVAL = re.compile(rf"INTERVAL\s+'?\s*(\d+)\s*'?\s*({_UNITS})S?", re.IGNORECASE)
_NAMES = {"TUMBLE": ("SIZE", "OFFSET"), "HOP": ("SLIDE", "SIZE", "OFFSET")}

_REFUSED = {
    "CUMULATE": "CUMULATE is not a window of Spark: write a query with TABLE(TUMBLE(...)) for each step, and UNION ALL",
    "SESSION": "SESSION is written GROUP BY session_window(ts, '5 minutes'), key in Spark; session_window.start and "
    "session_window.end are window_start and window_end",
}


def window_select(name: str, column: str, arguments: list[str]) -> str:
    """Return the text before the table of a window function's table; two closing parentheses come after it.

    Args:
        name: TUMBLE, HOP, CUMULATE or SESSION.
        column: The column of DESCRIPTOR, as it is written.
        arguments: The intervals, as they are written, with their names where they have some.

    Raises:
        ValueError: Spark has no such window.
    """
    if name in _REFUSED:
        raise ValueError(_REFUSED[name])
    given = dict(_named(name, arguments))
    order = ("SIZE", "SLIDE", "OFFSET")
    if "SIZE" not in given or (name == "HOP" and "SLIDE" not in given):
        written = "TABLE t, DESCRIPTOR(ts), " + ("slide, size" if name == "HOP" else "size")
        message = f"{name} is written TABLE({name}({written})), with intervals such as INTERVAL '5' MINUTES"
        raise ValueError(message)
    if "OFFSET" in given:
        given.setdefault("SLIDE", given["SIZE"])
    durations = ", ".join(f"'{given[key]}'" for key in order if key in given)
    return (
        "(SELECT * EXCEPT (__window), __window.start AS window_start, __window.end AS window_end, "  # noqa: S608
        f"window_time(__window) AS window_time FROM (SELECT *, window({column}, {durations}) AS __window FROM "
    )


def _named(function: str, arguments: list[str]) -> list[tuple[str, str]]:
    """Return the intervals of a window by their names, as Spark writes durations."""
    named = []
    for name, argument in zip(_NAMES[function], arguments, strict=False):
        before, arrow, after = argument.partition("=>")
        match = _INTERVAL.fullmatch((after if arrow else argument).strip())
        if match is None:
            message = f"{argument.strip()!r} is no interval of a window: write one such as INTERVAL '5' MINUTES"
            raise ValueError(message)
        named.append((before.strip().upper() if arrow else name, f"{match[1]} {match[2].lower()}"))
    return named
