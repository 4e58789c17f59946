"""Plugins: found by entry points, listed by name, imported only when used.

A hook module imports `hookimpl`. Programs that use plugins themselves, such as a catalog, import `plugin_manager` and
the kinds::

    from millrace.plugins import CATALOG, plugin_manager

    plugin_manager().names(CATALOG)
    catalog = plugin_manager().load(CATALOG, "kafka").from_options({"properties.bootstrap.servers": "localhost:9092"})
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from millrace.lazy_imports import lazy_imports

if TYPE_CHECKING:
    from millrace.plugins.discovery import PackageFailure, PluginEntry
    from millrace.plugins.hookspecs import hookimpl
    from millrace.plugins.kinds import (
        CATALOG,
        DEAD_LETTER_COLLECTOR,
        FORMAT,
        HEADER_FILTER,
        KINDS,
        METRICS_REPORTER,
        OFFSET_INITIALIZER,
        PARTITIONER,
        PIPELINE_SINK,
        PIPELINE_SOURCE,
        SCHEMA_INFERENCE,
        STATE_BACKEND,
        TABLE_FACTORY,
        TOKEN_PROVIDER,
        Kind,
    )
    from millrace.plugins.manager import PluginManager, PluginState, plugin_manager, plugin_states

__all__ = [
    "CATALOG",
    "DEAD_LETTER_COLLECTOR",
    "FORMAT",
    "HEADER_FILTER",
    "KINDS",
    "METRICS_REPORTER",
    "OFFSET_INITIALIZER",
    "PARTITIONER",
    "PIPELINE_SINK",
    "PIPELINE_SOURCE",
    "SCHEMA_INFERENCE",
    "STATE_BACKEND",
    "TABLE_FACTORY",
    "TOKEN_PROVIDER",
    "Kind",
    "PackageFailure",
    "PluginEntry",
    "PluginManager",
    "PluginState",
    "hookimpl",
    "plugin_manager",
    "plugin_states",
]

__getattr__, __dir__ = lazy_imports(
    __name__,
    {
        "millrace.plugins.discovery": ["PackageFailure", "PluginEntry"],
        "millrace.plugins.hookspecs": ["hookimpl"],
        "millrace.plugins.kinds": [
            "CATALOG",
            "DEAD_LETTER_COLLECTOR",
            "FORMAT",
            "HEADER_FILTER",
            "KINDS",
            "METRICS_REPORTER",
            "OFFSET_INITIALIZER",
            "PARTITIONER",
            "PIPELINE_SINK",
            "PIPELINE_SOURCE",
            "SCHEMA_INFERENCE",
            "STATE_BACKEND",
            "TABLE_FACTORY",
            "TOKEN_PROVIDER",
            "Kind",
        ],
        "millrace.plugins.manager": ["PluginManager", "PluginState", "plugin_manager", "plugin_states"],
    },
)
