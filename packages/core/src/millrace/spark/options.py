"""The options of a data source without those that are Spark's."""

from __future__ import annotations

from collections.abc import Mapping

_SPARKS_OWN = {"checkpointlocation", "queryname"}
"""Options of a DataStreamWriter that Spark reads itself and hands on all the same."""


def connector_options(options: Mapping[str, str]) -> dict[str, str]:
    """The options that are for millrace."""
    return {name: value for name, value in options.items() if name.lower() not in _SPARKS_OWN}
