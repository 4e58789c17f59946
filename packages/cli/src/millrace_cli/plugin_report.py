"""The report of ``millrace plugins``: every plugin that packages offer, and every package that failed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from rich.table import Table
from rich.text import Text

from millrace.plugins import PackageFailure, PluginState, plugin_manager, plugin_states
from millrace_cli.tables import new_table, render

_HEADINGS = ("kind", "name", "class", "distribution", "version", "state")
_HEADINGS_BY_KIND = ("name", "distribution", "version", "state")


@dataclass(frozen=True)
class PluginReport:
    """The installed plugins.

    Attributes:
        plugins: Each plugin, and whether it can be used.
        failures: The packages whose plugins could not be listed.
    """

    plugins: tuple[PluginState, ...]
    failures: tuple[PackageFailure, ...]

    @property
    def is_sound(self) -> bool:
        """True when nothing failed; an extra that is not installed is no failure."""
        return not self.failures and not any(state.problem for state in self.plugins)

    def to_json(self) -> str:
        """Format the report as ``millrace plugins --help`` describes; keys may be added, never changed."""
        return json.dumps(
            {
                "plugins": [
                    {
                        "kind": state.entry.kind.name,
                        "name": state.entry.name,
                        "class": state.entry.target,
                        "distribution": state.entry.distribution,
                        "version": state.entry.version,
                        "error": state.problem or None,
                        "missing": state.missing or None,
                    }
                    for state in self.plugins
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
            coloured: For a terminal, in its width, by kind and with colours; otherwise one plain line for each
                plugin, with its class.
        """
        if not self.plugins:
            return ["no plugins are installed; install the standard ones with: pip install millrace-kafka"]
        table = new_table(coloured=coloured)
        for heading in _HEADINGS_BY_KIND if coloured else _HEADINGS:
            table.add_column(heading, overflow="fold")
        if coloured:
            self._add_by_kind(table)
        else:
            for state in self.plugins:
                entry = state.entry
                package = (entry.distribution, entry.version)
                table.add_row(entry.kind.name, entry.name, entry.target, *package, _state_text(state))
        return render(table, coloured=coloured)

    def _add_by_kind(self, table: Table) -> None:
        """Add the plugins below their kinds, without their classes, so that 80 columns suffice."""
        for kind, states in groupby(self.plugins, lambda state: state.entry.kind.name):
            table.add_row(Text(kind, "bold"))
            for state in states:
                entry = state.entry
                table.add_row(f"  {entry.name}", entry.distribution, entry.version, _state_text(state))

    def problem_lines(self) -> Iterator[str]:
        """Yield one line for each problem and each missing part; one that several plugins share only once."""
        problems = [text for state in self.plugins for text in (state.problem, state.missing) if text]
        problems += [f"plugin package {failure}" for failure in self.failures]
        for problem in dict.fromkeys(problems):
            yield f"millrace: {problem}"


def make_report() -> PluginReport:
    """Discover all installed plugins, load each one, and check its requirements."""
    manager = plugin_manager()
    return PluginReport(tuple(plugin_states(manager)), manager.discovery.failures)


def _state_text(state: PluginState) -> Text:
    if state.problem:
        return Text("cannot be used", "red")
    return Text("needs more", "yellow") if state.missing else Text("ok", "green")
