"""The conformance suite fails for table factories that break the contract."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from pyspark.sql.types import LongType

from millrace.contracts import ChangelogMode, TableColumn, TableDescription, TableFactory, TableSink
from millrace.errors import OptionsError
from millrace.testing import TableFactorySuite


class Sink(TableSink):
    mode = ChangelogMode.INSERT_ONLY

    @property
    def changelog_mode(self):
        return self.mode

    def write(self, rows, sink):
        pass


class Correct(TableFactory):
    def sink(self, table):
        self.parse_options(table)
        return Sink()


class TakesAnyOption(TableFactory):
    def sink(self, table):
        return Sink()


class WithOneSink(Correct):
    made = Sink()

    def sink(self, table):
        self.parse_options(table)
        return self.made


class ChecksNothing(Correct):
    def check(self, table):
        pass


class WithUndeclaredOptions(Correct):
    @dataclass(frozen=True)
    class TableOptions:
        parallelism: int = field(default=1)


class WithUnknownKinds(Correct):
    def sink(self, table):
        sink = Sink()
        sink.mode = ChangelogMode(frozenset({"+X"}))
        return sink


def suite_of(factory, *, reads=False):
    class Suite(TableFactorySuite):
        can_read = reads

        def make_factory(self):
            return factory()

        def make_table(self):
            return TableDescription(("d", "d", "out"), (TableColumn("id", LongType()),))

    return Suite()


def test_a_correct_factory_passes():
    suite = suite_of(Correct)
    suite.test_is_a_table_factory()
    suite.test_needs_no_options_of_its_own()
    suite.test_table_options_are_declared()
    suite.test_two_sources_or_sinks_of_one_factory()
    for direction in ("read", "write"):
        suite.test_makes_what_such_tables_are_for(direction)
        suite.test_an_unknown_option_is_refused(direction, "option")
    suite.test_a_right_table_passes_the_check()
    suite.test_the_check_finds_unknown_options()
    suite.test_changelog_mode("write")


@pytest.mark.parametrize(
    ("factory", "test", "arguments"),
    [
        (TakesAnyOption, "test_an_unknown_option_is_refused", ("write", "option")),
        (WithOneSink, "test_two_sources_or_sinks_of_one_factory", ()),
        (WithUndeclaredOptions, "test_table_options_are_declared", ()),
        (ChecksNothing, "test_the_check_finds_unknown_options", ()),
        (WithUnknownKinds, "test_changelog_mode", ("write",)),
    ],
)
def test_a_fault_is_found(factory, test, arguments):
    with pytest.raises(AssertionError):
        getattr(suite_of(factory), test)(*arguments)


def test_a_factory_that_cannot_read_what_it_says_is_found():
    with pytest.raises(OptionsError, match="'out'"):
        suite_of(Correct, reads=True).test_makes_what_such_tables_are_for("read")
