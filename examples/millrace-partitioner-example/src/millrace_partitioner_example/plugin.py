"""The hook that millrace asks for partitioners."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.plugins import hookimpl


@hookimpl
def millrace_partitioners() -> Mapping[str, str]:
    """The name to give as ``sink.partitioner``, and where its class is."""
    return {"by-region": "millrace_partitioner_example.region:RegionPartitioner"}
