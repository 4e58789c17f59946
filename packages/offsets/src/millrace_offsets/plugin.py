"""The package's hook: which offset initializers it offers, and where their classes are."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.plugins import hookimpl


@hookimpl
def millrace_offset_initializers() -> Mapping[str, str]:
    """The names to give as ``scan.startup.mode`` and ``scan.bounded.mode``."""
    return {
        "earliest-offset": "millrace_offsets.earliest:EarliestOffset",
        "latest-offset": "millrace_offsets.latest:LatestOffset",
        "group-offsets": "millrace_offsets.committed:GroupOffsets",
        "timestamp": "millrace_offsets.timestamp:TimestampOffset",
        "specific-offsets": "millrace_offsets.specific:SpecificOffsets",
    }
