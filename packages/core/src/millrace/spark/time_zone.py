"""The session's time zone, which text without one is read in."""

from __future__ import annotations

import re

from pyspark import TaskContext

_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d\d))?(?::?\d\d)?")


def session_time_zone() -> str:
    """The name of the zone, or its offset as ``+05:30``; asked on an executor, while a task runs.

    Where the session does not set ``spark.sql.session.timeZone``, Spark takes the machine's.
    """
    context = TaskContext.get()
    told = context.getLocalProperty("spark.sql.session.timeZone") if context is not None else None
    if told is None:
        import tzlocal

        told = tzlocal.get_localzone_name()
    return as_arrow_has_it(told)


def as_arrow_has_it(zone: str) -> str:
    """A zone as Arrow names it: of Java's further names for offsets, such as ``GMT+1``, the offset."""
    match = _OFFSET.fullmatch(zone)
    if match is None:
        return "UTC" if zone == "Z" else zone
    return f"{match[1]}{int(match[2]):02d}:{match[3] or '00'}"
