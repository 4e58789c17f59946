"""Resolve the plugins that options name, each with its own options parsed."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from enum import Enum
from typing import Any, NamedTuple

from millrace.errors import PluginError
from millrace.options.connector import SinkOptions, SourceOptions
from millrace.options.parser import OptionParser
from millrace.options.shared import TableOptions
from millrace.options.suggestions import closest
from millrace.plugins.kinds import (
    DEAD_LETTER_COLLECTOR,
    FORMAT,
    HEADER_FILTER,
    OFFSET_INITIALIZER,
    PARTITIONER,
    SCHEMA_INFERENCE,
    STATE_BACKEND,
    Kind,
)
from millrace.plugins.manager import PluginRef, is_import_string, plugin_manager
from millrace.plugins.own_packages import package_for


class Direction(Enum):
    """The use of a configuration: one set of options serves reads and writes."""

    READ = "read"
    WRITE = "write"


class UnusablePlugin(NamedTuple):
    """A plugin that only one direction uses and that cannot be loaded.

    Attributes:
        direction: The direction that uses it; the other one goes on without.
        problem: A sentence for the user.
        is_given: Whether the user named it, not a default.
    """

    direction: Direction
    problem: str
    is_given: bool


class PluginReferences:
    """Resolve plugins for one set of options.

    A plugin that both directions use must be usable. One that only reads or only writes use may be missing where the
    options serve the other direction; it is listed in `unusable`, and its own options are accepted unchecked. A name
    that is close to that of an installed plugin is a mistake in both directions.

    Args:
        parser: The parser of the options; problems are reported to it.
    """

    def __init__(self, parser: OptionParser) -> None:
        self._parser = parser
        self._manager = plugin_manager()
        self.unusable: list[UnusablePlugin] = []

    def value_format(self, options: TableOptions) -> PluginRef | None:
        """Resolve the format of values; None where there is none, or after a problem."""
        name = options.value_format
        return None if name is None else self._resolve(FORMAT, "value.format", name, f"value.{name}.", f"{name}.")

    def key_format(self, options: TableOptions) -> PluginRef | None:
        """Resolve the format of keys; None where there is none, or after a problem."""
        name = options.key_format
        return None if name is None else self._resolve(FORMAT, "key.format", name, f"key.{name}.")

    def startup(self, options: SourceOptions) -> PluginRef | None:
        """Resolve the offset initializer that says where to start; None leaves it to the kind of query."""
        return self._offset_initializer("scan.startup", options.startup_mode)

    def bounded(self, options: SourceOptions) -> PluginRef | None:
        """Resolve the offset initializer that says where to stop; None leaves it to the kind of query."""
        return self._offset_initializer("scan.bounded", options.bounded_mode)

    def header_filter(self, options: SourceOptions) -> PluginRef | None:
        """Resolve the header filter and parse its expression; None where there is none, or after a problem."""
        if options.header_filter is None:
            return None
        return self._resolve(
            HEADER_FILTER,
            "scan.filter.language",
            options.filter_language,
            direction=Direction.READ,
            unchecked=("scan.filter.",),
        )

    def dead_letter_collector(self, options: SourceOptions) -> PluginRef | None:
        """Resolve the collector of malformed messages; None where there is none, or after a problem."""
        option, resolved = "dirty-data.collector", None
        if options.dirty_collector is not None:
            name = self._installed_name(DEAD_LETTER_COLLECTOR, options.dirty_collector)
            resolved = self._resolve(DEAD_LETTER_COLLECTOR, option, name, f"{option}.", direction=Direction.READ)
        if resolved is not None and resolved.options is None:
            # A required option is missing or wrong, which is reported
            resolved = None
        for rest in self._parser.take_rest(f"{option}."):
            self._parser.report(
                f"option '{option}.{rest}' requires a collector that has this option; {option!r} is "
                f"{options.dirty_collector!r}"
                if options.dirty_collector
                else f"option '{option}.{rest}' requires {option!r}, the collector that it is for, such as 'topic'"
            )
        return resolved

    def state_backend(self, options: SourceOptions) -> PluginRef | None:
        """Resolve the backend of a table's state; None where there is no table, or after a problem."""
        if not options.has_primary_key:
            return None
        name = self._installed_name(STATE_BACKEND, options.state_backend)
        return self._resolve(STATE_BACKEND, "state.backend", name, "state.backend.", direction=Direction.READ)

    def schema_inference(self, options: SourceOptions, user_options: AbstractSet[str]) -> PluginRef | None:
        """Resolve the schema inference of the format of values; None where there is none for it.

        Args:
            options: The options of the source.
            user_options: The names of all options that the user has given, in lower case.
        """
        name = options.value_format
        if name is None or name not in self._manager.names(SCHEMA_INFERENCE):
            for option in sorted(user_options & {"scan.max.pre.fetch.records", "infer-schema.max-columns"}):
                self._parser.report(f"option {option!r} requires a format with inferred columns, such as 'json'")
            return None
        prefixes = (f"value.{name}.", f"{name}.")
        if not any(map(self._parser.has_prefixed, prefixes)):
            # Most reads are given their columns, and most processes that plan need none
            return self._manager.refer(SCHEMA_INFERENCE, name)
        return self._resolve(SCHEMA_INFERENCE, "value.format", name, *prefixes, direction=Direction.READ)

    def partitioner(self, options: SinkOptions) -> PluginRef:
        """Resolve the partitioner; after a problem the reference cannot be used."""
        name = self._installed_name(PARTITIONER, options.partitioner)
        resolved = self._resolve(PARTITIONER, "sink.partitioner", name, "sink.partitioner.", direction=Direction.WRITE)
        return resolved or PluginRef(PARTITIONER.name, name, None, None)

    def key_partitioner(self, options: SourceOptions) -> PluginRef | None:
        """Resolve the partitioner that has written the messages; None where none is named, or after a problem."""
        if options.key_partitioner is None:
            return None
        option = "scan.filter-pushdown.key-partitioner"
        name = self._installed_name(PARTITIONER, options.key_partitioner)
        resolved = self._resolve(PARTITIONER, option, name, f"{option}.", direction=Direction.READ)
        if resolved is not None and not self._manager.load(PARTITIONER, name).decides_by_key:
            self._parser.report(
                f"option {option!r}: partitioner {name!r} does not decide by the key alone, so that a key may be "
                f"anywhere; if it does, set 'decides_by_key = True' in its class"
            )
            return None
        return resolved

    def _offset_initializer(self, prefix: str, name: str | None) -> PluginRef | None:
        if name is None:
            return None
        name = self._installed_name(OFFSET_INITIALIZER, name)
        return self._resolve(OFFSET_INITIALIZER, f"{prefix}.mode", name, f"{prefix}.", direction=Direction.READ)

    def _installed_name(self, kind: Kind[Any], name: str) -> str:
        """Return the installed name that is the same but for its case, which does not matter in the reference."""
        names = self._manager.names(kind)
        return (
            name
            if name in names
            else next((installed for installed in names if installed.lower() == name.lower()), name)
        )

    def _resolve(
        self,
        kind: Kind[Any],
        option: str,
        name: str,
        *prefixes: str,
        direction: Direction | None = None,
        unchecked: tuple[str, ...] = (),
    ) -> PluginRef | None:
        """Refer to a plugin, with its own options parsed; None after a problem.

        Args:
            kind: The plugin's kind.
            option: The option that names it, for problems.
            name: Its name or class.
            prefixes: What may stand before its options.
            direction: The only direction that uses it; None when both do.
            unchecked: The beginnings of options to accept when it cannot be loaded; by default ``prefixes``.
        """
        try:
            options = self._parser.take(self._manager.load(kind, name).Options, *prefixes)
            return self._manager.refer(kind, name, options)
        except PluginError as error:
            problem = f"option {option!r}: {error}"
            if direction is None or self._is_misspelled(kind, name):
                self._parser.report(problem)
            else:
                self.unusable.append(UnusablePlugin(direction, problem, self._parser.has_prefixed(option)))
            for prefix in unchecked or prefixes:
                self._parser.take_prefixed(prefix)
            return None

    def _is_misspelled(self, kind: Kind[Any], name: str) -> bool:
        is_known = is_import_string(name) or package_for(kind, name) is not None or name in self._manager.names(kind)
        return not is_known and closest(name, self._manager.names(kind)) is not None
