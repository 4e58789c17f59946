"""The package's hook: names and import strings of its partitioners."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.plugins import hookimpl


@hookimpl
def millrace_partitioners() -> Mapping[str, str]:
    """Return the names to give as ``sink.partitioner``."""
    return {
        "default": "millrace_partitioners.default:DefaultPartitioner",
        "fixed": "millrace_partitioners.fixed:FixedPartitioner",
        "round-robin": "millrace_partitioners.round_robin:RoundRobinPartitioner",
    }
