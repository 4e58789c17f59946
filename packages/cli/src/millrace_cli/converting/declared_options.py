"""Look up the options that the data source declares."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.options.connector import SinkOptions, SourceOptions
from millrace.options.field import OptionInfo, options_of
from millrace.options.shared import TableOptions

_DECLARED: Mapping[str, OptionInfo] = {
    name.lower(): info
    for options in (TableOptions, SourceOptions, SinkOptions)
    for info in options_of(options).values()
    for name in (info.name, *info.aliases)
}


def declared(name: str) -> OptionInfo | None:
    """Return the description of an option by any of its names, in any case; None for one of a plugin or a client."""
    return _DECLARED.get(name.lower())


def canonical_name(name: str) -> str:
    """Return the name by which an option is declared; other names as they are."""
    info = declared(name)
    return name if info is None else info.name


def spark_name(info: OptionInfo) -> str | None:
    """Return the other name that Spark's own connector has for an option with the same values; None without one."""
    # Spark's connector writes names like maxOffsetsPerTrigger, and no other one does
    return next((alias for alias in info.aliases if alias.isidentifier() and not alias.islower()), None)


def take(options: dict[str, str], *names: str) -> dict[str, str]:
    """Remove options from a dictionary, and return them under the names by which it had them.

    Args:
        options: The options.
        names: Names of declared options, each as it is declared, or of other ones.
    """
    return {name: options.pop(name) for name in list(options) if canonical_name(name) in names}
