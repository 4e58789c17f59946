"""The options of a data source without those that are Spark's."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.errors import OptionsError

_SPARKS_OWN = {"checkpointlocation", "queryname"}
"""Options of a DataStreamWriter that Spark reads itself and hands on all the same."""


def connector_options(options: Mapping[str, str]) -> dict[str, str]:
    """The options that are for millrace.

    Raises:
        OptionsError: They are those of a table of Spark's catalog, which forgets them.
    """
    # With a table's options Spark hands on its provider, when it is made, and nothing at all when it is used
    if not options or "provider" in options:
        problem = (
            "there are none. Spark does not keep the options of tables whose data source is in Python, so that CREATE "
            "TABLE ... USING millrace makes tables that cannot be read: use CREATE TEMPORARY VIEW ... USING millrace "
            "OPTIONS (...)"
        )
        raise OptionsError("millrace", (problem,))
    return {name: value for name, value in options.items() if name.lower() not in _SPARKS_OWN}
