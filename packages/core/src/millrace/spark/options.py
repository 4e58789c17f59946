"""The options of a data source without those that are Spark's."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.errors import OptionsError

_SPARKS_OWN = {"checkpointlocation", "queryname"}
"""Options of a DataStreamWriter that Spark reads itself and hands on all the same."""

_NO_TABLES = (
    "Spark does not keep the options of a catalog's tables for data sources in Python; use CREATE TEMPORARY VIEW ... "
    "USING millrace OPTIONS (...)"
)


def connector_options(options: Mapping[str, str]) -> dict[str, str]:
    """The options that are for millrace.

    Raises:
        OptionsError: There are none, or they are those of a table of Spark's catalog, which would forget them.
    """
    if "provider" in options:
        raise OptionsError("millrace", (f"CREATE TABLE ... USING millrace: {_NO_TABLES}",))
    if not options:
        problem = (
            f"option 'properties.bootstrap.servers' is required, and there is none. If this is a table: {_NO_TABLES}"
        )
        raise OptionsError("millrace", (problem,))
    return {name: value for name, value in options.items() if name.lower() not in _SPARKS_OWN}
