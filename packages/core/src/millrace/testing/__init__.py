"""Conformance suites for plugins: subclass one in your tests, and pytest runs what the contract asks.

    from millrace.testing import PartitionerSuite

    class TestByRegion(PartitionerSuite):
        def make_partitioner(self):
            return RegionPartitioner()

Each suite says in its docstring what to override; tests of your own can stand beside it. They need pytest.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from millrace.testing.catalog import CatalogSuite
    from millrace.testing.changelog_format import ChangelogFormatSuite
    from millrace.testing.format import FormatSuite
    from millrace.testing.header_filter import HeaderFilterSuite
    from millrace.testing.offset_initializer import OffsetInitializerSuite
    from millrace.testing.partitioner import PartitionerSuite
    from millrace.testing.schema_inference import SchemaInferenceSuite

__all__ = [
    "CatalogSuite",
    "ChangelogFormatSuite",
    "FormatSuite",
    "HeaderFilterSuite",
    "OffsetInitializerSuite",
    "PartitionerSuite",
    "SchemaInferenceSuite",
]

_MODULES = {
    "CatalogSuite": "millrace.testing.catalog",
    "ChangelogFormatSuite": "millrace.testing.changelog_format",
    "FormatSuite": "millrace.testing.format",
    "HeaderFilterSuite": "millrace.testing.header_filter",
    "OffsetInitializerSuite": "millrace.testing.offset_initializer",
    "PartitionerSuite": "millrace.testing.partitioner",
    "SchemaInferenceSuite": "millrace.testing.schema_inference",
}


def __getattr__(name: str) -> type:
    """Import a suite when it is first asked for, so that its assertions can be prepared to show their values."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    import pytest

    unprepared = {"millrace.testing.plugin_options", "millrace.testing.format", _MODULES[name]} - sys.modules.keys()
    pytest.register_assert_rewrite(*unprepared)
    suite: type = getattr(import_module(_MODULES[name]), name)
    return suite
