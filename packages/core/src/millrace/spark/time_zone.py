"""The session's time zone, in which text without a zone is read."""

from __future__ import annotations

import re

from pyspark import TaskContext

from millrace.pyspark_internals import session_setting

_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d\d))?(?::?\d\d)?")


def session_time_zone() -> str:
    """Return the name of the zone, or its offset as ``+05:30``; called on an executor, while a task runs.

    Where the session does not set ``spark.sql.session.timeZone``, Spark takes the machine's.
    """
    context = TaskContext.get()
    zone = None if context is None else session_setting(context, "spark.sql.session.timeZone")
    if zone is None:
        import tzlocal

        zone = tzlocal.get_localzone_name()
    return to_arrow_time_zone(zone)


def to_arrow_time_zone(zone: str) -> str:
    """Return a zone as Arrow names it, which does not know Java's further names for offsets, such as ``GMT+1``."""
    match = _OFFSET.fullmatch(zone)
    if match is None:
        return "UTC" if zone == "Z" else zone
    return f"{match[1]}{int(match[2]):02d}:{match[3] or '00'}"
