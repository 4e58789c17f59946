"""Look plugins up by name, and load one of them."""

from __future__ import annotations

import functools
import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from millrace.errors import DuplicatePluginError, MachineError, PluginLoadError, PluginVersionError, UnknownPluginError
from millrace.options.suggestions import closest
from millrace.plugins.discovery import Discovery, PluginEntry, discover
from millrace.plugins.failures import note_loaded
from millrace.plugins.kinds import KINDS, Kind, P
from millrace.plugins.own_packages import package_for

if TYPE_CHECKING:
    from millrace.contracts import Plugin


@dataclass(frozen=True)
class PluginRef:
    """A plugin as it travels to executors: its name, the version that the driver has, and its parsed options.

    Attributes:
        kind: The name of the plugin's kind.
        name: The plugin's name, or its class as ``module:Class`` or ``module.Class``.
        distribution: The package that offers it on the driver; None for a class given directly.
        version: That package's version on the driver.
        options: An instance of the class's ``Options``; None for their defaults.
    """

    kind: str
    name: str
    distribution: str | None
    version: str | None
    options: Any = None

    def create(self) -> Any:
        """Build the plugin in this process.

        Raises:
            PluginVersionError: This process has another version of the plugin's package than the driver.
            UnknownPluginError, DuplicatePluginError, PluginLoadError: As `PluginManager.load`.
        """
        manager = plugin_manager()
        kind = next(kind for kind in KINDS if kind.name == self.kind)
        if self.distribution is not None:
            here = manager.find(kind, self.name)
            if (here.distribution, here.version) != (self.distribution, self.version):
                raise PluginVersionError(
                    f"{self.kind} {self.name!r}: the driver has {self.distribution} {self.version}, this executor has "
                    f"{here.distribution} {here.version}; install the same version everywhere"
                )
        return manager.load(kind, self.name)(self.options)


class PluginManager:
    """List and load the plugins of installed packages.

    Args:
        discovery: The plugins of the installed packages.
    """

    def __init__(self, discovery: Discovery) -> None:
        self._discovery = discovery

    @property
    def discovery(self) -> Discovery:
        """All plugins that were found, and the packages that failed to load."""
        return self._discovery

    def names(self, kind: Kind[Any]) -> list[str]:
        """Return the names of all plugins of a kind, sorted."""
        return sorted({entry.name for entry in self._discovery.entries if entry.kind == kind})

    def find(self, kind: Kind[Any], name: str) -> PluginEntry:
        """Return the entry of a plugin.

        Raises:
            UnknownPluginError: No package offers it; the message lists the installed ones.
            DuplicatePluginError: More than one package offers it.
        """
        entries = [entry for entry in self._discovery.entries if entry.kind == kind and entry.name == name]
        if not entries:
            raise UnknownPluginError(self._unknown_plugin_message(kind, name))
        if len(entries) > 1:
            owners = " and ".join(f"{entry.distribution} {entry.version} ({entry.target})" for entry in entries)
            raise DuplicatePluginError(
                f"{kind.name} {name!r} is offered by {owners}; uninstall one of them, or give the class "
                f"as 'module:Class'"
            )
        return entries[0]

    def load(self, kind: Kind[P], name: str) -> type[P]:
        """Import the class of a plugin, given by name, ``module:Class`` or ``module.Class``.

        Raises:
            UnknownPluginError, DuplicatePluginError: As `find`.
            PluginLoadError: Its module or class cannot be imported, or is not of its kind.
        """
        if is_import_string(name):
            return _import_class(kind, name, f"{kind.name} {name!r}")
        entry = self.find(kind, name)
        return _import_class(kind, entry.target, str(entry))

    def refer(self, kind: Kind[Any], name: str, options: Any = None) -> PluginRef:
        """Make a reference to a plugin, to send to executors; the plugin must be installed here."""
        if is_import_string(name):
            return PluginRef(kind.name, name, None, None, options)
        entry = self.find(kind, name)
        return PluginRef(kind.name, name, entry.distribution, entry.version, options)

    def _unknown_plugin_message(self, kind: Kind[Any], name: str) -> str:
        known = self.names(kind)
        message = f"unknown {kind.name} {name!r}; "
        message += f"installed: {', '.join(known)}" if known else f"no {kind.name} is installed"
        hints = [f"Plugin package {failure}" for failure in self._discovery.failures]
        close = closest(name, known)
        package = package_for(kind, name)
        if package:
            hints.insert(0, f"Install it with: pip install {package}")
        elif close:
            hints.insert(0, f"Did you mean {close!r}?")
        return ". ".join([message, *hints]).replace("?. ", "? ")


def is_import_string(name: str) -> bool:
    """Return whether a plugin is given as a class, not by name."""
    return ":" in name or "." in name


def _import_class(kind: Kind[P], target: str, what: str) -> type[P]:
    module_name, _, class_name = target.partition(":") if ":" in target else target.rpartition(".")
    try:
        loaded = getattr(importlib.import_module(module_name), class_name)
    except Exception as error:
        raise PluginLoadError(f"{what} cannot be loaded from {target!r}: {type(error).__name__}: {error}") from error
    base_module, _, base_name = kind.base.partition(":")
    base = getattr(importlib.import_module(base_module), base_name)
    if not (isinstance(loaded, type) and issubclass(loaded, base)):
        raise PluginLoadError(f"{what} at {target!r} is not a subclass of {base_module}.{base_name}")
    missing = sorted(getattr(loaded, "__abstractmethods__", ()))
    if missing:
        raise PluginLoadError(f"{what} at {target!r} cannot be used: it does not define {', '.join(missing)}")
    note_loaded(loaded.__module__, what)
    return loaded


@functools.cache
def plugin_manager() -> PluginManager:
    """Return the plugin manager of this process, which looks at the installed packages once."""
    return PluginManager(discover())


@dataclass(frozen=True)
class PluginState:
    """An installed plugin, and the reason why it cannot be used, if there is one.

    Attributes:
        entry: The plugin.
        problem: The reason why it cannot be loaded; empty when it can.
        missing: What this machine lacks for it, such as an extra, and how to install it; empty when nothing.
    """

    entry: PluginEntry
    problem: str = ""
    missing: str = ""


def plugin_states(manager: PluginManager) -> list[PluginState]:
    """Load each installed plugin, and check its requirements on this machine."""
    return [_state_of(entry, manager) for entry in manager.discovery.entries]


def _state_of(entry: PluginEntry, manager: PluginManager) -> PluginState:
    try:
        loaded: type[Plugin] = manager.load(entry.kind, entry.name)
    except (DuplicatePluginError, PluginLoadError) as error:
        return PluginState(entry, problem=str(error))
    try:
        loaded.check_requirements()
    except MachineError as error:
        return PluginState(entry, missing=str(error))
    except Exception as error:
        return PluginState(entry, problem=f"{entry} cannot be checked: {type(error).__name__}: {error}")
    return PluginState(entry)
