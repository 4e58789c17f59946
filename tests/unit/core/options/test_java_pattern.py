from __future__ import annotations

import pytest

from millrace.options.java_pattern import java_pattern


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        (r"orders-\d+", "orders-12", "orders-"),
        (r"[a-z&&[^b]]+", "ac", "ab"),
        (r"[a-c[x-z]]+", "ay", "ad"),
        (r"\p{Alpha}+\.\p{Digit}+", "v.1", "1.v"),
        (r"(?i)ORDERS", "orders", "order"),
        (r"a++b", "aab", "aa"),
        (r"\Qa.b\E.*", "a.bc", "axbc"),
        (r"x\Qa.b", "xa.b", "xaxb"),
        (r"(?<n>ab)-\k<n>", "ab-ab", "ab-ba"),
    ],
)
def test_a_pattern_means_what_it_means_in_java(pattern: str, matching: str, other: str) -> None:
    assert java_pattern(pattern).fullmatch(matching)
    assert not java_pattern(pattern).fullmatch(other)


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [("orders(", "missing ) at position 7"), (r"\p{Nonsense}", "unknown property at position 12")],
)
def test_what_is_no_pattern_is_refused(pattern: str, problem: str) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole text is compared
        java_pattern(pattern)
    assert str(error.value) == f"expected a regular expression: {problem}"
