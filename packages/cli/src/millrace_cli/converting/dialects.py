"""Find the dialects that installed packages offer, and the one of a text."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from importlib.metadata import EntryPoint

from millrace_cli.converting.dialect import OptionDialect
from millrace_cli.errors import CommandError

DIALECTS_GROUP = "millrace.dialects"


def installed_dialects() -> Mapping[str, EntryPoint]:
    """Return the entry points of all dialects by name."""
    return {point.name: point for point in importlib.metadata.entry_points(group=DIALECTS_GROUP)}


def load_dialect(name: str) -> OptionDialect:
    """Return a dialect.

    Raises:
        CommandError: No installed package offers it.
    """
    installed = installed_dialects()
    if name not in installed:
        known = ", ".join(sorted(installed)) or "none"
        hint = "; flink comes with millrace-sql" if name == "flink" else ""
        raise CommandError(f"there is no dialect {name!r}: installed are {known}{hint}")
    dialect = installed[name].load()()
    if not isinstance(dialect, OptionDialect):
        raise CommandError(f"{installed[name].value!r}, offered as dialect {name!r}, is no subclass of OptionDialect")
    return dialect


def recognize(text: str) -> OptionDialect:
    """Return the dialect that a text is in.

    Raises:
        CommandError: It is in none, or may be in several.
    """
    dialects = {name: load_dialect(name) for name in sorted(installed_dialects())}
    matching = [name for name, dialect in dialects.items() if dialect.recognizes(text)]
    if len(matching) != 1:
        what = f"it may be {' or '.join(matching)}" if matching else "its options have no names of a known dialect"
        raise CommandError(f"say with --from what the text is: {what}")
    return dialects[matching[0]]
