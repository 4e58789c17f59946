"""The conformance suites for sources and sinks of pipelines."""
# ruff: noqa: D102, S101 - tests are made of assertions, and their names say what the contract asks

from __future__ import annotations

from abc import abstractmethod

import pytest

from millrace.contracts import (
    SCHEMA_CHANGES,
    ChangeSource,
    OptionProblem,
    PipelineSink,
    PipelineSource,
    SinkCapabilities,
)
from millrace.errors import MillraceError
from millrace.options import options_of
from millrace.table_names import split_names
from millrace.testing.plugin_options import PluginOptionsSuite

_KEYS_OF_THE_FILE = {"type", "name", "include.schema.changes", "exclude.schema.changes"}


class _PipelineEndSuite(PluginOptionsSuite):
    def test_no_option_has_the_name_of_a_key_of_every_pipeline(self) -> None:
        names = {
            name
            for info in options_of(type(self.make_plugin()).Options).values()
            for name in (info.name, *info.aliases)
        }
        assert not names & _KEYS_OF_THE_FILE, f"{', '.join(sorted(_KEYS_OF_THE_FILE))} belong to the file; rename yours"

    def test_right_options_have_no_problems(self) -> None:
        plugin = self.make_plugin()
        assert isinstance(plugin, PipelineSource | PipelineSink), "subclass PipelineSource or PipelineSink"
        problems = tuple(plugin.problems())
        assert all(isinstance(problem, OptionProblem) for problem in problems), "`problems` returns OptionProblems"
        assert not problems, f"`make_plugin` must make it with options that go together, but there is {problems}"


class PipelineSourceSuite(_PipelineEndSuite):
    """Tests that a source of pipelines keeps its contract; they need neither Kafka nor Spark.

    Subclass it in a test module, with a name that pytest collects, and override `make_plugin`::

        class TestTicker(PipelineSourceSuite):
            def make_plugin(self):
                return TickerSource(TickerOptions(interval="1 s"))

    Rules that the tests check:

    - ``Options`` is a frozen dataclass, each field declared by `millrace.options.option`; they survive pickling.
    - No option is named as a key that the file has for every source and sink.
    - A source is made, and its options are checked, without asking the outside world.
    - Tables that it declares have ids of one to three names, and the columns of their primary keys.
    """

    @abstractmethod
    def make_plugin(self) -> PipelineSource:
        """Make a source with right options."""

    def test_declared_tables_have_ids_and_the_columns_of_their_keys(self) -> None:
        source = self.make_plugin()
        if not isinstance(source, ChangeSource):
            return
        try:
            tables = tuple(source.tables())
        except MillraceError as error:
            pytest.skip(f"its tables cannot be asked for here: {error}")
        assert len({table.id for table in tables}) == len(tables), "a table is declared twice"
        for table in tables:
            assert 1 <= len(split_names(table.id)) <= 3, f"expected one to three names, got {table.id!r}"
            assert set(table.primary_key) <= set(table.schema.names), f"{table.id}: its key has other columns"


class PipelineSinkSuite(_PipelineEndSuite):
    """Tests that a sink of pipelines keeps its contract; they need neither Kafka nor Spark.

    Subclass it in a test module, with a name that pytest collects, and override `make_plugin`::

        class TestArchive(PipelineSinkSuite):
            def make_plugin(self):
                return ArchiveSink(ArchiveOptions(folder="/archive"))

    Rules that the tests check:

    - ``Options`` is a frozen dataclass, each field declared by `millrace.options.option`; they survive pickling.
    - No option is named as a key that the file has for every source and sink.
    - A sink is made, and its options are checked, without asking the outside world.
    - ``capabilities`` names known schema changes and a guarantee, and does not change.
    """

    @abstractmethod
    def make_plugin(self) -> PipelineSink:
        """Make a sink with right options."""

    def test_capabilities(self) -> None:
        sink = self.make_plugin()
        capabilities = sink.capabilities
        assert isinstance(capabilities, SinkCapabilities), f"return SinkCapabilities, not {capabilities!r}"
        unknown = capabilities.schema_changes - set(SCHEMA_CHANGES)
        assert not unknown, f"schema changes are {', '.join(SCHEMA_CHANGES)}; got {unknown}"
        assert capabilities.guarantee in {"at-least-once", "exactly-once"}, "unknown guarantee"
        assert sink.capabilities == capabilities, "the capabilities of a sink do not change"
