"""Calls of user-defined functions are taken out of texts."""

from __future__ import annotations

import pytest

from millrace_cdc.functions.calls import CallExtractor, is_call


def test_a_name_of_the_same_length_stands_for_a_call() -> None:
    extractor = CallExtractor({"INC"})
    text = "id, Inc(id) + 1 AS next"
    found = extractor.extract(text)
    (call,) = extractor.calls
    assert (len(found), found.replace(f"`{call.column}`", "Inc(id)")) == (len(text), text)
    assert (call.function, call.text, call.offset, call.arguments) == ("INC", "Inc(id)", 4, (("id", 8),))
    assert is_call(call.column)
    assert not is_call("id")


def test_inner_calls_come_first() -> None:
    extractor = CallExtractor({"F", "G"})
    extractor.extract("f(1, g(f(2)))")
    assert [call.text for call in extractor.calls] == ["f(2)", "g(f(2))", "f(1, g(f(2)))"]
    inner, middle, outer = extractor.calls
    assert middle.arguments == ((f"`{inner.column}`", 7),)
    assert [text.strip() for text, _ in outer.arguments] == ["1", f"`{middle.column}`"]


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("f()", []),
        ("f (a, b)", ["a", " b"]),
        ("f('),', `a)`, m['k, ('], (1, 2))", ["'),'", " `a)`", " m['k, (']", " (1, 2)"]),
        ("f(CASE WHEN a THEN ROUND(b, 1) END)", ["CASE WHEN a THEN ROUND(b, 1) END"]),
    ],
)
def test_arguments_stand_between_commas(text: str, arguments: list[str]) -> None:
    extractor = CallExtractor({"F"})
    extractor.extract(text)
    assert [each for each, _ in extractor.calls[-1].arguments] == arguments


@pytest.mark.parametrize("text", ["'f(x)'", "`f(x)`", "f", "f + (x)", "of(x)", "f(x"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    extractor = CallExtractor({"F"})
    assert extractor.extract(text) == text
    assert extractor.calls == []


def test_calls_of_several_rules_have_different_names() -> None:
    first = CallExtractor({"F"})
    first.extract("f(1)")
    second = CallExtractor({"F"}, first=1)
    second.extract("f(1)")
    assert first.calls[0].column != second.calls[0].column
