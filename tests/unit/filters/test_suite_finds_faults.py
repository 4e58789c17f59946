"""The conformance suite fails for header filters that break the contract."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from millrace.contracts import HeaderFilter, HeaderFilterOptions
from millrace.options import ShownValueError, option
from millrace.testing import HeaderFilterSuite

Mask = Callable[[pa.ListArray], pa.Array]


def parse(expression: str, refusal: str | None) -> str:
    if expression != "any" and refusal is not None:
        raise ShownValueError(refusal)
    return expression


def suite_of(mask: Mask, refusal: str | None = None) -> HeaderFilterSuite:
    """The suite of a language whose only expression is ``any``: a record that has headers."""

    @dataclass(frozen=True, kw_only=True)
    class FaultyOptions(HeaderFilterOptions):
        expression: str = option("scan.header-filter", parse=partial(parse, refusal=refusal), doc="The word any.")

    # Found by its name when options are pickled
    globals()["FaultyOptions"] = FaultyOptions
    FaultyOptions.__qualname__ = "FaultyOptions"

    class Faulty(HeaderFilter):
        Options = FaultyOptions

        def mask(self, headers: pa.ListArray) -> pa.BooleanArray:
            return mask(headers)

    class Suite(HeaderFilterSuite):
        filter_class = Faulty

        def examples(self) -> list[tuple[str, list[tuple[str, bytes | None]], bool]]:
            return [("any", [("a", b"1")], True), ("any", [], False)]

        def wrong_expressions(self) -> list[str]:
            return ["some"]

    return Suite()


def has_headers(headers: pa.ListArray) -> pa.BooleanArray:
    return pc.greater(pc.list_value_length(headers), 0)


def test_a_correct_filter_passes() -> None:
    suite = suite_of(has_headers, "expected 'any', found 'some'")
    for name in dir(suite):
        if name.startswith("test_"):
            getattr(suite, name)()


def test_wrong_decisions() -> None:
    suite = suite_of(lambda headers: pc.invert(has_headers(headers)))
    with pytest.raises(AssertionError):
        suite.test_examples()
    with pytest.raises(AssertionError):
        suite.test_examples_in_one_batch()


@pytest.mark.parametrize(
    "mask",
    [
        lambda headers: [True] * len(headers),
        lambda headers: pa.array([1] * len(headers)),
        lambda headers: pa.array([None] * len(headers), pa.bool_()),
        lambda headers: pa.array([True] * (len(headers) + 1)),
    ],
)
def test_what_is_not_a_mask(mask: Mask) -> None:
    with pytest.raises(AssertionError):
        suite_of(mask).test_every_record_is_kept_or_not()


def test_the_wrong_part_of_a_sliced_batch() -> None:
    def mask(headers: pa.ListArray) -> pa.BooleanArray:
        offsets_of_the_whole_batch = np.frombuffer(headers.buffers()[1], np.int32)
        return pa.array(np.diff(offsets_of_the_whole_batch)[: len(headers)] > 0)

    suite = suite_of(mask)
    with pytest.raises(AssertionError):
        suite.test_a_slice_is_filtered_as_its_part_of_the_batch()


def test_a_batch_that_is_remembered() -> None:
    seen: list[int] = []

    def mask(headers: pa.ListArray) -> pa.BooleanArray:
        seen.append(len(headers))
        return pa.array([len(seen) % 3 == 0] * len(headers), pa.bool_())

    with pytest.raises(AssertionError):
        suite_of(mask).test_batches_do_not_influence_each_other()


def test_a_wrong_expression_that_is_accepted() -> None:
    with pytest.raises(AssertionError, match="`parse` must refuse a wrong expression"):
        suite_of(has_headers).test_wrong_expressions_are_refused()


def test_a_refusal_that_does_not_show_the_expression() -> None:
    with pytest.raises(AssertionError, match="the message must name"):
        suite_of(has_headers, "syntax error").test_wrong_expressions_are_refused()
