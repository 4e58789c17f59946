"""The report of ``millrace plugins``: every plugin that packages offer, and every package that failed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from rich.text import Text

from millrace.plugins.discovery import PackageFailure, PluginEntry
from millrace.plugins.manager import describe, plugin_manager
from millrace_cli.tables import new_table, render


@dataclass(frozen=True)
class PluginReport:
    """The installed plugins.

    Attributes:
        plugins: Each plugin with the reason why it cannot be used; an empty text when it can.
        failures: The packages whose plugins could not be listed.
    """

    plugins: tuple[tuple[PluginEntry, str], ...]
    failures: tuple[PackageFailure, ...]

    @property
    def all_usable(self) -> bool:
        """True when nothing failed."""
        return not self.failures and not any(problem for _, problem in self.plugins)

    def to_json(self) -> str:
        """Format the report as ``millrace plugins --help`` describes; keys may be added, never changed."""
        return json.dumps(
            {
                "plugins": [
                    {
                        "kind": entry.kind.name,
                        "name": entry.name,
                        "class": entry.target,
                        "distribution": entry.distribution,
                        "version": entry.version,
                        "error": problem or None,
                    }
                    for entry, problem in self.plugins
                ],
                "failures": [
                    {
                        "entry_point": failure.entry_point,
                        "distribution": failure.distribution,
                        "version": failure.version,
                        "error": failure.cause,
                    }
                    for failure in self.failures
                ],
            },
            indent=2,
        )

    def table_lines(self, *, coloured: bool) -> list[str]:
        """Render the plugins as a table.

        Args:
            coloured: For a terminal, in its width and with colours; otherwise one plain line for each plugin.
        """
        if not self.plugins:
            return ["no plugins are installed; install the standard ones with: pip install millrace"]
        table = new_table(coloured=coloured)
        for heading in ("kind", "name", "class", "distribution", "version", "state"):
            table.add_column(heading, overflow="fold")
        for entry, problem in self.plugins:
            state = Text("cannot be used", "red") if problem else Text("ok", "green")
            table.add_row(entry.kind.name, entry.name, entry.target, entry.distribution, entry.version, state)
        return render(table, coloured=coloured)

    def problem_lines(self) -> Iterator[str]:
        """Yield one line for each problem; one that several plugins share only once."""
        problems = [problem for _, problem in self.plugins if problem]
        problems += [f"plugin package {failure}" for failure in self.failures]
        for problem in dict.fromkeys(problems):
            yield f"millrace: {problem}"


def make_report() -> PluginReport:
    """Discover all installed plugins, and load each one to see whether it can be used."""
    manager = plugin_manager()
    return PluginReport(tuple(describe(manager.discovery.entries, manager)), manager.discovery.failures)
