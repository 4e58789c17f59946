"""The conformance suite for table factories."""
# ruff: noqa: D102, S101 - tests are made of assertions, and their names say what the contract asks

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from typing import ClassVar

import pytest

from millrace.contracts import ChangelogMode, TableDescription, TableFactory, TableSink, TableSource
from millrace.contracts.format import ROW_KINDS
from millrace.errors import OptionsError
from millrace.options import options_of
from millrace.testing.plugin_options import PluginOptionsSuite
from millrace.testing.refusals import must_refuse


class TableFactorySuite(PluginOptionsSuite):
    """Tests that a table factory keeps its contract; they need no Spark session.

    Subclass it in a test module, with a name that pytest collects, and override `make_factory` and `make_table`; say
    by `can_read` and `can_write` what such tables are for::

        class TestTicker(TableFactorySuite):
            can_write = False

            def make_factory(self):
                return TickerTableFactory()

            def make_table(self):
                columns = (TableColumn("symbol", StringType()), TableColumn("price", DoubleType()))
                return TableDescription(("default", "default", "ticks"), columns, options={"interval": "1 s"})

    Rules that the tests check:

    - A factory needs no options of its own, and has no state: it makes any number of sources and sinks.
    - ``TableOptions`` is a frozen dataclass, each field declared by `millrace.options.option`.
    - A source or sink is made without asking the outside world, so that a statement is checked before anything starts.
    - An option that the connector does not have is refused by an `OptionsError` that names it and the table.
    - ``check`` takes such a table, and refuses a wrong one.
    - A table that cannot be read, or not be written, is refused by an `OptionsError` that names it.
    - ``changelog_mode`` holds kinds out of ``+I``, ``-U``, ``+U``, ``-D``, and does not change.

    That the rows are the right ones is for tests of your own, with a session.
    """

    can_read: ClassVar[bool] = True
    """True when such tables can be read."""

    can_write: ClassVar[bool] = True
    """True when such tables can be written."""

    unknown_option: ClassVar[str] = "no-such-option-at-all"
    """The name of an option that no table of the connector has."""

    @abstractmethod
    def make_factory(self) -> TableFactory:
        """Make a factory."""

    @abstractmethod
    def make_table(self) -> TableDescription:
        """Describe a table with right options."""

    def make_plugin(self) -> TableFactory:
        """Make the factory for the tests of its options."""
        return self.make_factory()

    def test_is_a_table_factory(self) -> None:
        assert isinstance(self.make_factory(), TableFactory), "subclass millrace.contracts.TableFactory"

    def test_needs_no_options_of_its_own(self) -> None:
        factory = self.make_factory()
        assert isinstance(type(factory)(), TableFactory), (
            "SQL makes a factory without arguments: the options of a table are in its description"
        )

    def test_table_options_are_declared(self) -> None:
        declared = type(self.make_factory()).TableOptions
        assert dataclasses.is_dataclass(declared), f"{declared} must be a dataclass"
        fields = {field.name for field in dataclasses.fields(declared)}
        assert set(options_of(declared)) == fields, "declare every field of TableOptions with millrace.options.option"

    @pytest.mark.parametrize("direction", ["read", "write"])
    def test_makes_what_such_tables_are_for(self, direction: str) -> None:
        if not self._can(direction):
            with must_refuse(OptionsError, self.make_table().name, f"such a table cannot be used to {direction}"):
                self._make(direction, self.make_table())
            return
        expected = TableSource if direction == "read" else TableSink
        assert isinstance(self._make(direction, self.make_table()), expected), f"return a {expected.__name__}"

    @pytest.mark.parametrize("direction", ["read", "write"])
    @pytest.mark.parametrize("named", ["option", "table"])
    def test_an_unknown_option_is_refused(self, direction: str, named: str) -> None:
        table = self.make_table()
        wrong = dataclasses.replace(table, options={**table.options, self.unknown_option: "1"})
        name = self.unknown_option if named == "option" and self._can(direction) else table.name
        with must_refuse(OptionsError, name, "options that the connector does not have are refused"):
            self._make(direction, wrong)

    def test_a_right_table_passes_the_check(self) -> None:
        self.make_factory().check(self.make_table())

    def test_the_check_finds_unknown_options(self) -> None:
        table = self.make_table()
        wrong = dataclasses.replace(table, options={**table.options, self.unknown_option: "1"})
        with must_refuse(OptionsError, self.unknown_option, "check refuses options that the connector does not have"):
            self.make_factory().check(wrong)

    @pytest.mark.parametrize("direction", ["read", "write"])
    def test_changelog_mode(self, direction: str) -> None:
        if not self._can(direction):
            pytest.skip(f"such tables cannot be used to {direction}")
        made = self._make(direction, self.make_table())
        mode = made.changelog_mode
        assert isinstance(mode, ChangelogMode), f"changelog_mode is a ChangelogMode, not {mode!r}"
        assert mode.row_kinds, "a table has rows of some kind: ChangelogMode.INSERT_ONLY at least"
        assert mode.row_kinds <= set(ROW_KINDS), f"row kinds are {', '.join(ROW_KINDS)}; got {mode}"
        assert made.changelog_mode == mode, "the changelog mode of a source or sink does not change"

    def test_two_sources_or_sinks_of_one_factory(self) -> None:
        factory, direction = self.make_factory(), "read" if self.can_read else "write"
        first, second = (self._make(direction, self.make_table(), factory) for _ in range(2))
        assert first is not second, "each use of a table gets a source or sink of its own"

    def _can(self, direction: str) -> bool:
        return self.can_read if direction == "read" else self.can_write

    def _make(
        self, direction: str, table: TableDescription, factory: TableFactory | None = None
    ) -> TableSource | TableSink:
        factory = factory or self.make_factory()
        return factory.source(table) if direction == "read" else factory.sink(table)
