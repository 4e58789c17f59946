"""Flink CDC's golden specs of transforms, value by value: in a checkout that MILLRACE_FLINK_CDC names."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest

from support.golden_differences import KINDS, Comparison, compare, documented_kinds
from support.golden_runs import GoldenRuns
from support.golden_specs import copied_spec, read_specs

pytestmark = [pytest.mark.flink_cdc, pytest.mark.timeout(3600)]

FEWEST_EQUAL = 500
"""Of some 800 expressions."""


@pytest.fixture(scope="module")
def comparisons() -> list[Comparison]:
    from support.queries import local_session

    specs = read_specs()
    with local_session(attempts=1, cores=1) as spark:
        runs = GoldenRuns(spark, copied_spec(specs)).run(specs)
    return [comparison for spec in specs for comparison in compare(spec, runs[spec.name])]


@pytest.fixture(scope="module")
def differences(comparisons: list[Comparison]) -> list[Comparison]:
    return [each for each in comparisons if not each.is_equal]


def test_the_summary_is_shown(
    comparisons: list[Comparison], differences: list[Comparison], capsys: pytest.CaptureFixture[str]
) -> None:
    kinds = Counter(each.kind or "not in the docs" for each in differences)
    types = Counter(" -> ".join(each.other_types) for each in comparisons if each.is_equal and each.other_types)
    with capsys.disabled():
        equal, refused = len(comparisons) - len(differences), sum(each.refused is not None for each in differences)
        print(f"\n{len(comparisons)} expressions: {equal} equal, {len(differences)} different, {refused} refused")
        show = partial(print, sep="\n", end="\n\n")
        show("Different, by kind:", *(f"  {count:4} {name}" for name, count in kinds.most_common()))
        show("Equal in another type:", *(f"  {count:4} {name}" for name, count in types.most_common()))
    assert comparisons


def test_no_expression_is_refused_for_want_of_a_function(differences: list[Comparison]) -> None:
    assert [str(each) for each in differences if each.refused is not None and each.kind is None] == []


def test_each_difference_is_of_a_kind_in_the_docs(differences: list[Comparison]) -> None:
    documented = documented_kinds()
    assert [str(each) for each in differences if each.kind not in documented] == []


def test_each_known_kind_is_seen(differences: list[Comparison]) -> None:
    assert set(KINDS) == {each.kind for each in differences}


def test_most_expressions_have_equal_values(comparisons: list[Comparison]) -> None:
    assert sum(each.is_equal for each in comparisons) >= FEWEST_EQUAL
