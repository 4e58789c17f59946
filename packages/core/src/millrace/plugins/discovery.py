"""Finding plugin packages by their entry points, without importing any plugin's class."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
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
        name: The name that it is used by.
        target: Where its class is, as ``module:Class``.
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
    """A plugin package whose hooks cannot be used, and why."""

    entry_point: str
    distribution: str
    version: str
    cause: str

    def __str__(self) -> str:
        return f"{self.distribution} {self.version} ({self.entry_point}) cannot be loaded: {self.cause}"


@dataclass(frozen=True)
class Discovery:
    """All plugins that the installed packages offer, and the packages that failed."""

    entries: tuple[PluginEntry, ...]
    failures: tuple[PackageFailure, ...]


def discover(candidates: Iterable[EntryPoint] | None = None) -> Discovery:
    """Ask every plugin package for its plugins; a package that fails does not stop the others.

    Args:
        candidates: The entry points to look at; by default those of group ``millrace`` of all installed packages.
    """
    entries: list[PluginEntry] = []
    failures: list[PackageFailure] = []
    for entry_point in entry_points(group=hookspecs.PROJECT) if candidates is None else candidates:
        distribution, version = _origin(entry_point)
        try:
            entries.extend(_ask(entry_point, distribution, version))
        except (Exception, SystemExit) as error:
            cause = f"{type(error).__name__}: {error}"
            failures.append(PackageFailure(entry_point.value, distribution, version, cause))
    entries.sort(key=lambda entry: (KINDS.index(entry.kind), entry.name, entry.distribution))
    return Discovery(tuple(entries), tuple(failures))


def _origin(entry_point: EntryPoint) -> tuple[str, str]:
    distribution = entry_point.dist
    return (distribution.name, distribution.version) if distribution else ("an unnamed package", "unknown")


def _ask(entry_point: EntryPoint, distribution: str, version: str) -> list[PluginEntry]:
    # A manager for each package: what is wrong with one must not be found in the next
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    module = entry_point.load()
    manager.register(module)
    manager.check_pending()
    if not manager.get_hookcallers(module):
        raise ValueError("it has no hook; mark its functions with @hookimpl of millrace.plugins")
    return [
        PluginEntry(kind, name, target, distribution, version)
        for kind in KINDS
        for name, target in _answer(manager, kind).items()
    ]


def _answer(manager: pluggy.PluginManager, kind: Kind[Any]) -> Mapping[str, str]:
    for implementation in getattr(manager.hook, kind.hook).get_hookimpls():
        return _checked(kind, implementation.function())
    return {}


def _checked(kind: Kind[Any], answer: object) -> Mapping[str, str]:
    if not isinstance(answer, Mapping):
        raise TypeError(f"hook {kind.hook} must answer a mapping of names to 'module:Class', not {answer!r}")
    for name, target in answer.items():
        if not (isinstance(name, str) and _NAME.fullmatch(name)):
            raise ValueError(f"hook {kind.hook} gives the name {name!r}; names are of a-z, 0-9, '-' and '_'")
        if not (isinstance(target, str) and _TARGET.fullmatch(target)):
            raise ValueError(f"hook {kind.hook} gives {name!r} as {target!r}; expected 'module:Class'")
    return answer
