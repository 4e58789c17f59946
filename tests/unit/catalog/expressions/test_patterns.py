"""Patterns of SIMILAR TO as regular expressions."""

from __future__ import annotations

import re

import pytest

from millrace_catalog.expressions.patterns import like_pattern, similar_pattern


@pytest.mark.parametrize(
    ("pattern", "escape", "matching", "others"),
    [
        ("a%", None, ["a", "abc", "a\nb"], ["ba"]),
        ("a_c", None, ["abc"], ["ac", "abbc"]),
        ("a.c", None, ["a.c"], ["abc"]),
        ("(ab|cd)+", None, ["ab", "abcd"], ["abc"]),
        ("[a-c]{2}", None, ["ab"], ["ad", "abc"]),
        ("a!%", "!", ["a%"], ["ab"]),
        ("a$", None, ["a$"], ["a"]),
        (r"a\d", None, [r"a\d"], ["a1"]),
    ],
)
def test_a_pattern_matches_whole_texts(pattern, escape, matching, others):
    # Python reads what these patterns become as Java does
    made = re.compile(similar_pattern(pattern, escape))
    assert [text for text in (*matching, *others) if made.search(text)] == matching


def test_classes_are_javas():
    assert similar_pattern("[[:ALPHA:]_][[:digit:]]") == r"^(?:[\p{Alpha}_][\d])$"


@pytest.mark.parametrize(
    ("pattern", "escape", "message"),
    [
        ("[ab", None, "has a bracket that is not closed"),
        ("[[:VOWEL:]]", None, "has a class that is none of ALPHA"),
        ("a!", "!", "ends with its escape character"),
        ("a", "!!", "ESCAPE takes one character, not '!!'"),
    ],
)
def test_a_wrong_pattern_is_told(pattern, escape, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        similar_pattern(pattern, escape)


def test_a_backslash_in_like_is_a_character():
    assert like_pattern("a\\_") == "a\\\\_"
