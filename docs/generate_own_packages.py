"""Write the list of plugins that core's errors tell people to install, from the entry points of all packages."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from millrace.plugins import plugin_manager

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "packages/core/src/millrace/plugins/own_packages.json"


def render() -> str:
    """Return the list as JSON: for each kind of plugin, the packages and the names that they offer."""
    projects = [tomllib.loads(file.read_text())["project"]["name"] for file in ROOT.glob("packages/*/pyproject.toml")]
    packages: dict[str, dict[str, list[str]]] = {}
    for entry in plugin_manager().discovery.entries:
        if entry.distribution in projects:
            packages.setdefault(entry.kind.name, {}).setdefault(entry.distribution, []).append(entry.name)
    return json.dumps(packages, indent=2, sort_keys=True) + "\n"
