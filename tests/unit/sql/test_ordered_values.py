"""Values that are kept in the order in which they came, some of which are taken away again."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millrace_sql.planner.ordered_values import add_ordered, ordered_texts

Changes = list[tuple[str, int]]


def _texts(kind: str, *micro_batches: Changes) -> list[str]:
    kept: dict = {}
    for changes in micro_batches:
        kept = json.loads(json.dumps(add_ordered(kept, kind, changes)))
    return ordered_texts(kept, kind)


@pytest.mark.parametrize(
    ("kind", "changes", "expected"),
    [
        ("list", [("a", 1), ("b", 1), ("a", 1)], ["a", "b", "a"]),
        # The earliest of equal values goes, as in the reference
        ("list", [("a", 1), ("b", 1), ("a", 1), ("a", -1)], ["b", "a"]),
        ("list", [("a", 1), ("a", -1), ("b", 1), ("a", 1)], ["b", "a"]),
        ("list", [("a", -1), ("b", 1), ("a", 1), ("a", 1)], ["b", "a"]),
        ("distinct_list", [("a", 1), ("b", 1), ("a", 1), ("a", -1)], ["a", "b"]),
        ("distinct_list", [("a", 1), ("b", 1), ("a", -1), ("a", 1)], ["b", "a"]),
        ("distinct_list", [("a", -1), ("b", 1)], ["b"]),
        ("first", [("a", 1), ("b", 1)], ["a"]),
        ("last", [("a", 1), ("b", 1)], ["b"]),
    ],
)
def test_the_order_is_that_of_the_reference(kind: str, changes: Changes, expected: list[str]) -> None:
    assert _texts(kind, changes) == expected
    assert _texts(kind, *([change] for change in changes)) == expected


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from([1, -1]))))
def test_values_that_were_all_taken_away_leave_nothing(changes: Changes) -> None:
    for kind in ("list", "distinct_list"):
        kept = add_ordered({}, kind, [*changes, *((text, -sign) for text, sign in changes)])
        assert kept == {}
        counts = Counter[str]()
        for text, sign in changes:
            counts[text] += sign
        texts = Counter(_texts(kind, changes))
        assert texts == (+counts if kind == "list" else Counter((+counts).keys()))
