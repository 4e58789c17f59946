"""Find plugin packages by their entry points, without importing any plugin's class."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, distributions
from typing import Any

import pluggy

from millrace.plugins import hookspecs
from millrace.plugins.kinds import KINDS, Kind

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
_TARGET = re.compile(r"[^:\s]+:[^:\s]+")


@dataclass(frozen=True)
class PluginEntry:
    """A plugin that an installed package offers.

    Attributes:
        kind: The plugin's kind.
        name: The name that options give it.
        target: The import string of its class, ``module:Class``.
        distribution: The installed package.
        version: That package's version.
    """

    kind: Kind[Any]
    name: str
    target: str
    distribution: str
    version: str

    def __str__(self) -> str:
        return f"{self.kind.name} {self.name!r} of {self.distribution} {self.version}"


@dataclass(frozen=True)
class PackageFailure:
    """A plugin package whose hooks cannot be used, with the cause."""

    entry_point: str
    distribution: str
    version: str
    cause: str

    def __str__(self) -> str:
        return f"{self.distribution} {self.version} ({self.entry_point}) cannot be loaded: {self.cause}"


@dataclass(frozen=True)
class Discovery:
    """All plugins that the installed packages offer, and the packages that failed to load."""

    entries: tuple[PluginEntry, ...]
    failures: tuple[PackageFailure, ...]


def discover(candidates: Iterable[EntryPoint] | None = None) -> Discovery:
    """Ask every plugin package for its plugins; a package that fails does not stop the others.

    Args:
        candidates: The entry points to load; by default those of group ``millrace`` of all installed packages.
    """
    entries: list[PluginEntry] = []
    failures: list[PackageFailure] = []
    for entry_point in _installed() if candidates is None else candidates:
        distribution, version = _origin(entry_point)
        try:
            entries.extend(_entries_of(entry_point, distribution, version))
        except (Exception, SystemExit) as error:
            cause = f"{type(error).__name__}: {error}"
            failures.append(PackageFailure(entry_point.value, distribution, version, cause))
    entries.sort(key=lambda entry: (KINDS.index(entry.kind), entry.name, entry.distribution))
    return Discovery(tuple(entries), tuple(failures))


def _installed() -> Iterator[EntryPoint]:
    # Spark puts a jar of its own on the path of its Python processes, and reading its directory takes long
    path = [folder for folder in sys.path if not folder.endswith(".jar")]
    names: set[str] = set()
    for distribution in distributions(path=path):
        entry_points = distribution.entry_points.select(group=hookspecs.PROJECT)
        # Of a package that is on the path twice, Python imports the first one
        if entry_points and distribution.name not in names:
            names.add(distribution.name)
            yield from entry_points


def _origin(entry_point: EntryPoint) -> tuple[str, str]:
    distribution = entry_point.dist
    return (distribution.name, distribution.version) if distribution else ("an unnamed package", "unknown")


def _entries_of(entry_point: EntryPoint, distribution: str, version: str) -> list[PluginEntry]:
    # A manager for each package, so that a wrong hook of one is not reported for the next
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    module = entry_point.load()
    manager.register(module)
    manager.check_pending()
    if not manager.get_hookcallers(module):
        raise ValueError("it has no hook; mark its functions with @millrace.plugins.hookimpl")
    return [
        PluginEntry(kind, name, target, distribution, version)
        for kind in KINDS
        for name, target in _targets(manager, kind).items()
    ]


def _targets(manager: pluggy.PluginManager, kind: Kind[Any]) -> Mapping[str, str]:
    for implementation in getattr(manager.hook, kind.hook).get_hookimpls():
        return _check_targets(kind, implementation.function())
    return {}


def _check_targets(kind: Kind[Any], targets: object) -> Mapping[str, str]:
    if not isinstance(targets, Mapping):
        raise TypeError(f"hook {kind.hook} must return a mapping of names to 'module:Class', not {targets!r}")
    for name, target in targets.items():
        if not (isinstance(name, str) and _NAME.fullmatch(name)):
            raise ValueError(f"hook {kind.hook} returns the name {name!r}; names consist of a-z, 0-9, '-' and '_'")
        if not (isinstance(target, str) and _TARGET.fullmatch(target)):
            raise ValueError(f"hook {kind.hook} returns {target!r} for {name!r}; expected 'module:Class'")
    return targets
