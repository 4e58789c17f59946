"""The package's hook: which partitioners it offers, and where their classes are."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.plugins import hookimpl


@hookimpl
def millrace_partitioners() -> Mapping[str, str]:
    """The names to give as ``sink.partitioner``."""
    return {
        "default": "millrace_partitioners.default:DefaultPartitioner",
        "fixed": "millrace_partitioners.fixed:FixedPartitioner",
        "round-robin": "millrace_partitioners.round_robin:RoundRobinPartitioner",
    }
