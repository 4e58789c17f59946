"""What ``millrace plugins`` tells: every plugin that packages offer, every package that failed."""

from __future__ import annotations

import json
from dataclasses import dataclass

from millrace.plugins.discovery import PackageFailure, PluginEntry
from millrace.plugins.manager import describe, plugin_manager


@dataclass(frozen=True)
class PluginReport:
    """The installed plugins.

    Attributes:
        plugins: Each plugin with why it cannot be used, or an empty text when it can.
        failures: The packages whose plugins could not be listed.
    """

    plugins: tuple[tuple[PluginEntry, str], ...]
    failures: tuple[PackageFailure, ...]

    @property
    def all_usable(self) -> bool:
        """Whether nothing failed."""
        return not self.failures and not any(problem for _, problem in self.plugins)

    def to_json(self) -> str:
        """The report in the shape that ``millrace plugins --help`` describes; keys may be added, never changed."""
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


def make_report() -> PluginReport:
    """Look at all installed plugins, and load each one to see whether it can be used."""
    manager = plugin_manager()
    return PluginReport(tuple(describe(manager.discovery.entries, manager)), manager.discovery.failures)
