"""Start the commands that show rows at once."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec

QUICK_COMMANDS = {"cat", "peek", "schema"}
"""Commands that run without Spark, and that nobody wants to wait for."""


def leave_out_pandas() -> None:
    """Let no import find pandas in this process.

    PyArrow imports it, where it is installed, when it first converts a Python value, and would take half of the time
    until the first rows for a library that these commands do not use.
    """
    sys.meta_path.insert(0, _WithoutPandas())


class _WithoutPandas:
    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name == "pandas":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def is_quick(arguments: list[str]) -> bool:
    """Return whether a command line names one of the commands."""
    return bool(arguments) and arguments[0] in QUICK_COMMANDS
