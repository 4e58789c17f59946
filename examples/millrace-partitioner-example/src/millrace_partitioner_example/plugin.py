"""The hook by which millrace finds this package's partitioners."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.plugins import hookimpl


@hookimpl
def millrace_partitioners() -> Mapping[str, str]:
    """Return the partitioners: the value of ``sink.partitioner`` and the ``module:Class`` of each."""
    return {"by-region": "millrace_partitioner_example.region:RegionPartitioner"}
