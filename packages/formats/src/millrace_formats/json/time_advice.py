"""Advice for times that another setting reads."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from millrace_formats.shared.sql_times import parse_instant, parse_local_timestamp


def time_format_advice(value: Any, type_: pa.DataType, iso: bool) -> str:
    """Return how a time could be read that the column's type and the chosen standard do not read; empty if no way is.

    Args:
        value: The value of the message.
        type_: The column's type.
        iso: Whether times are read as ISO-8601.
    """
    if not (isinstance(value, str) and pt.is_timestamp(type_)):
        return ""
    has_zone = type_.tz is not None
    for with_zone, other_iso in ((has_zone, not iso), (True, iso), (True, not iso)):
        if _reads(value, with_zone, other_iso):
            advice = [] if with_zone == has_zone else ["It has a zone: declare the column as TIMESTAMP"]
            if other_iso != iso:
                standard = "ISO-8601" if other_iso else "SQL"
                advice.append(
                    f"To read {standard} times, set 'timestamp-format.standard' of the format, as in "
                    f"'json.timestamp-format.standard' = '{standard}'"
                )
            return "".join(f". {sentence}" for sentence in advice)
    return ""


def _reads(value: str, with_zone: bool, iso: bool) -> bool:
    try:
        parse_instant(value, iso, "UTC") if with_zone else parse_local_timestamp(value, iso)
    except ValueError:
        return False
    return True
