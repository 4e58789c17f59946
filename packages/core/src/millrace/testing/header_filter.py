"""The conformance suite for header filters."""
# ruff: noqa: D102, S101 - tests are made of assertions, and their names say what the contract asks

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from millrace.contracts import HEADERS, HeaderFilter
from millrace.errors import OptionsError
from millrace.options.parser import OptionParser
from millrace.testing.plugin_options import PluginOptionsSuite
from millrace.testing.refusals import must_refuse

Headers = Sequence[tuple[str, bytes | None]]
"""The headers of one record, in order."""


class Example(NamedTuple):
    """An expression, a record's headers, and whether the expression keeps the record."""

    expression: str
    headers: Headers
    kept: bool


class HeaderFilterSuite(PluginOptionsSuite):
    """Tests that a header filter keeps its contract.

    Subclass it in a test module, with a name that pytest collects, and override three members::

        class TestGlobs(HeaderFilterSuite):
            filter_class = GlobFilter

            def examples(self):
                return [
                    ("env=te*", [("env", b"test")], True),
                    ("env=te*", [("env", b"live")], False),
                ]

            def wrong_expressions(self):
                return ["env"]

    Every example is tested as it stands; then each of their expressions is given all the headers of the examples and
    some unusual ones, in batches and slices of batches.

    Rules that the tests check:

    - ``Options`` refines `HeaderFilterOptions`, and redeclares ``expression`` with a ``parse`` that raises a
      ValueError whose message shows a wrong expression, or a `ShownValueError`; the driver parses, executors get the
      parsed expression pickled.
    - ``mask`` answers True or False, never null, for each record, in a boolean array as long as the batch; also for
      an empty one.
    - A record is kept or not by its own headers alone, wherever it is in a batch, or in a slice of one: compute from
      the array as pyarrow's functions do, not from its buffers.
    - Any header may be there: no headers at all, an empty name, a null value, bytes that are no text, a name twice.
    """

    @property
    @abstractmethod
    def filter_class(self) -> type[HeaderFilter]:
        """The class to test."""

    @abstractmethod
    def examples(self) -> Sequence[tuple[str, Headers, bool]]:
        """Return expressions with a record's headers, and True if it keeps that record; every part of the language."""

    @abstractmethod
    def wrong_expressions(self) -> Sequence[str]:
        """Return expressions that must be refused."""

    def make_filter(self, expression: str) -> HeaderFilter:
        """Make a new filter, with its options parsed as the driver parses them.

        Raises:
            OptionsError: The expression is wrong.
        """
        parser = OptionParser("header filter", {"scan.header-filter": expression})
        options = parser.take(self.filter_class.Options)
        parser.finish()
        return self.filter_class(options)

    def make_plugin(self) -> HeaderFilter:
        return self.make_filter(self._examples()[0].expression)

    def test_is_a_header_filter(self) -> None:
        for header_filter in self._filters():
            assert isinstance(header_filter, HeaderFilter), "subclass millrace.contracts.HeaderFilter"

    def test_examples(self) -> None:
        for example in self._examples():
            mask = self.make_filter(example.expression).mask(header_array([example.headers])).to_pylist()
            assert mask == [example.kept], f"{example}: a record alone in its batch must be handled as the example says"

    def test_examples_in_one_batch(self) -> None:
        batch = header_array([example.headers for example in self._examples()])
        for index, example in enumerate(self._examples()):
            mask = self.make_filter(example.expression).mask(batch).to_pylist()
            assert mask[index] == example.kept, (
                f"{example}: its record, number {index} of a batch, depends on the others"
            )

    def test_every_record_is_kept_or_not(self) -> None:
        batch = self._batch()
        for header_filter in self._filters():
            check_mask(header_filter.mask(batch), len(batch))

    def test_empty_batch(self) -> None:
        for header_filter in self._filters():
            check_mask(header_filter.mask(header_array([])), 0)
            check_mask(header_filter.mask(self._batch().slice(1, 0)), 0)

    def test_executors_make_the_same_filter(self) -> None:
        remade = self.remake_plugin()
        assert isinstance(remade, HeaderFilter), "an executor makes the plugin of its class and its options"
        assert remade.mask(self._batch()).to_pylist() == self.make_plugin().mask(self._batch()).to_pylist(), (
            "a filter made of pickled options must keep the same records: let the options hold all that it needs"
        )

    def test_records_without_headers_are_all_alike(self) -> None:
        for header_filter in self._filters():
            mask = header_filter.mask(header_array([[], [], []]))
            check_mask(mask, 3)
            assert len(set(mask.to_pylist())) == 1, (
                "records without headers (empty lists) must all be kept, or all dropped"
            )

    def test_a_slice_is_filtered_as_its_part_of_the_batch(self) -> None:
        batch = self._batch()
        for header_filter in self._filters():
            whole = header_filter.mask(batch).to_pylist()
            for start in range(len(batch)):
                part = batch.slice(start, 3)
                assert header_filter.mask(part).to_pylist() == whole[start : start + 3], (
                    f"the slice from {start} is filtered unlike that part of the batch: heed the array's offset, as in "
                    f"headers.flatten() and pc.list_parent_indices(headers)"
                )

    def test_batches_do_not_influence_each_other(self) -> None:
        batch = self._batch()
        for header_filter, fresh in zip(self._filters(), self._filters(), strict=True):
            header_filter.mask(batch.slice(2))
            assert header_filter.mask(batch).to_pylist() == fresh.mask(batch).to_pylist(), (
                "a filter must keep nothing from batch to batch"
            )

    def test_wrong_expressions_are_refused(self) -> None:
        for expression in self.wrong_expressions():
            with must_refuse(OptionsError, expression, "`parse` must refuse a wrong expression, and show it"):
                self.make_filter(expression)

    def _examples(self) -> list[Example]:
        examples = [Example(*example) for example in self.examples()]
        assert {example.kept for example in examples} == {True, False}, "give examples of records kept and dropped"
        return examples

    def _filters(self) -> list[HeaderFilter]:
        return [self.make_filter(expression) for expression in dict.fromkeys(e.expression for e in self._examples())]

    def _batch(self) -> pa.ListArray:
        """The examples' headers, variations of them, and some that are allowed but rare."""
        known = [example.headers for example in self._examples()]
        no_values = [[(key, None) for key, _ in headers] for headers in known]
        no_text = [[(key, b"\xff\xfe") for key, _ in headers] for headers in known]
        repeated = [[*headers, *headers] for headers in known]
        rare: list[Headers] = [[], [("", b"")], [("", None)], [("Schlüssel", b"Wert")], []]
        return header_array([*known, *rare, *no_values, *no_text, *repeated])


def header_array(records: Sequence[Headers]) -> pa.ListArray:
    """Convert records' headers into the Arrow array that a filter receives."""
    entries = [[{"key": key, "value": value} for key, value in headers] for headers in records]
    return pa.array(entries, HEADERS)


def check_mask(mask: pa.Array, record_count: int) -> None:
    """Check the mask of a batch of ``record_count`` records."""
    assert isinstance(mask, pa.Array), f"expected a pyarrow array, got {type(mask)}"
    assert mask.type == pa.bool_(), f"expected a boolean array, got {mask.type}"
    assert len(mask) == record_count, "expected an answer for each record, also for those without headers"
    assert mask.null_count == 0, "expected True or False for each record: fill nulls, as with pc.fill_null(mask, False)"
