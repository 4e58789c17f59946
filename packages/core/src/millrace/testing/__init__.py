"""Conformance suites for plugins: subclass one in your tests, and pytest runs what the contract asks.

An example::

    from millrace.testing import PartitionerSuite

    class TestByRegion(PartitionerSuite):
        def make_partitioner(self):
            return RegionPartitioner()

Each suite says in its docstring what to override; tests of your own can stand beside it. They need pytest.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from millrace.lazy_imports import lazy_imports

if TYPE_CHECKING:
    from millrace.testing.catalog import CatalogSuite
    from millrace.testing.changelog_format import ChangelogFormatSuite
    from millrace.testing.dead_letter_collector import DeadLetterCollectorSuite
    from millrace.testing.format import FormatSuite
    from millrace.testing.header_filter import HeaderFilterSuite
    from millrace.testing.metrics_reporter import MetricsReporterSuite
    from millrace.testing.offset_initializer import OffsetInitializerSuite
    from millrace.testing.partitioner import PartitionerSuite
    from millrace.testing.pipeline import PipelineSinkSuite, PipelineSourceSuite
    from millrace.testing.schema_inference import SchemaInferenceSuite
    from millrace.testing.state_backend import StateBackendSuite
    from millrace.testing.table_factory import TableFactorySuite
    from millrace.testing.token_provider import TokenProviderSuite

__all__ = [
    "CatalogSuite",
    "ChangelogFormatSuite",
    "DeadLetterCollectorSuite",
    "FormatSuite",
    "HeaderFilterSuite",
    "MetricsReporterSuite",
    "OffsetInitializerSuite",
    "PartitionerSuite",
    "PipelineSinkSuite",
    "PipelineSourceSuite",
    "SchemaInferenceSuite",
    "StateBackendSuite",
    "TableFactorySuite",
    "TokenProviderSuite",
]


def _rewrite_assertions(module: str) -> None:
    """Let pytest show the values of a suite's assertions, as of those in test modules."""
    import pytest

    suites = {"millrace.testing.plugin_options", "millrace.testing.format", module}
    pytest.register_assert_rewrite(*suites - sys.modules.keys())


__getattr__, __dir__ = lazy_imports(
    __name__,
    {
        "millrace.testing.catalog": ["CatalogSuite"],
        "millrace.testing.changelog_format": ["ChangelogFormatSuite"],
        "millrace.testing.dead_letter_collector": ["DeadLetterCollectorSuite"],
        "millrace.testing.format": ["FormatSuite"],
        "millrace.testing.header_filter": ["HeaderFilterSuite"],
        "millrace.testing.metrics_reporter": ["MetricsReporterSuite"],
        "millrace.testing.offset_initializer": ["OffsetInitializerSuite"],
        "millrace.testing.partitioner": ["PartitionerSuite"],
        "millrace.testing.pipeline": ["PipelineSinkSuite", "PipelineSourceSuite"],
        "millrace.testing.schema_inference": ["SchemaInferenceSuite"],
        "millrace.testing.state_backend": ["StateBackendSuite"],
        "millrace.testing.table_factory": ["TableFactorySuite"],
        "millrace.testing.token_provider": ["TokenProviderSuite"],
    },
    prepare=_rewrite_assertions,
)
