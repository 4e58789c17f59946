"""The package's hook: names and import strings of its offset initializers."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.plugins import hookimpl


@hookimpl
def millrace_offset_initializers() -> Mapping[str, str]:
    """Return the names to give as ``scan.startup.mode`` and ``scan.bounded.mode``."""
    return {
        "earliest-offset": "millrace_offsets.earliest:EarliestOffset",
        "latest-offset": "millrace_offsets.latest:LatestOffset",
        "group-offsets": "millrace_offsets.committed:GroupOffsets",
        "timestamp": "millrace_offsets.timestamp:TimestampOffset",
        "specific-offsets": "millrace_offsets.specific:SpecificOffsets",
    }
