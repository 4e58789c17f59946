from __future__ import annotations

import contextlib
import subprocess
import sys
from importlib import resources

import pytest

from millrace.options import ShownValueError
from millrace_filters.expression import Condition, Expression, Link, Term
from millrace_filters.parse import parse
from support.waiting import sooner_than

A = Term(Condition("a", "1"))
B = Term(Condition("b", "2"))
NOT_B = Term(Condition("b", "2"), negated=True)


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("a:1", Expression(A)),
        ("!b:2", Expression(NOT_B)),
        ("a:1&b:2", Expression(A, (Link("&", B),))),
        ("a:1|!b:2&a:1", Expression(A, (Link("|", NOT_B), Link("&", A)))),
        (" a : 1 & ! b:2 ", Expression(A, (Link("&", NOT_B),))),
        ("a:x:y", Expression(Term(Condition("a", "x:y")))),
        ("a:", Expression(Term(Condition("a", "")))),
        (r"\!a:\&\|\:\\\(\)", Expression(Term(Condition("!a", r"&|:\()")))),
        (r"\ :\ ", Expression(Term(Condition(" ", " ")))),
    ],
)
def test_what_is_parsed(text: str, expression: Expression) -> None:
    assert parse(text) == expression


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ["header filter, character 1: expected a header key, as in key:value, found the end", "  ", "  ^"]),
        (
            "depart:toy|",
            [
                "header filter, character 12: expected a header key, as in key:value, found the end",
                "  depart:toy|",
                "             ^",
            ],
        ),
        (
            "a:1&&b:2",
            ["header filter, character 5: expected a header key, as in key:value, found '&'", "  a:1&&b:2", "      ^"],
        ),
        (
            "a & b:2",
            ["header filter, character 3: expected ':' and the header's value, found '&'", "  a & b:2", "    ^"],
        ),
        (
            "a:1|(b:2)",
            [
                "header filter, character 5: expected no parentheses, found '(': "
                "terms are joined from left to right; write \\( for the character itself",
                "  a:1|(b:2)",
                "      ^",
            ],
        ),
        (
            "a:!1",
            [
                "header filter, character 3: expected no '!' here: "
                "it may stand once, before a header key; write \\! for the character itself",
                "  a:!1",
                "    ^",
            ],
        ),
        (
            r"a:\n",
            [
                "header filter, character 4: expected one of & | ! : ( ) \\ or white space after a backslash, "
                "found 'n'; write \\\\ for a backslash",
                r"  a:\n",
                "     ^",
            ],
        ),
        (
            "a:1\\",
            [
                "header filter, character 4: expected a character after the backslash; write \\\\ for a backslash",
                "  a:1\\",
                "     ^",
            ],
        ),
    ],
)
def test_a_mistake_is_shown_in_its_place(text: str, message: list[str]) -> None:
    with pytest.raises(ValueError, match="header filter, character") as refusal:
        parse(text)
    assert str(refusal.value).split("\n") == message


def test_the_caret_is_in_place_after_wide_characters_and_line_breaks() -> None:
    with pytest.raises(ValueError, match="character 8") as refusal:
        parse("部門:書籍\n&)")
    _, shown, caret = str(refusal.value).split("\n")
    assert shown == "  部門:書籍 &)"
    # 2 to indent, 4 characters of width 2, 3 of width 1
    assert caret == " " * (2 + 4 * 2 + 3) + "^"


def test_half_a_surrogate_pair_is_refused_in_words_that_can_be_printed() -> None:
    with pytest.raises(ValueError, match="character 3: expected text, found half of a surrogate pair") as refusal:
        parse("a:\ud800")
    str(refusal.value).encode()


@pytest.mark.parametrize(
    "text",
    ["a:1" + "&b:2" * 5_000, "a:" + " " * 50_000 + "!", "!" * 50_000, "a" + " " * 50_000, "a:" + "\\" * 50_001],
    ids=["terms", "space", "negations", "space at the end", "backslashes"],
)
def test_long_texts_are_parsed_or_refused_in_time(text: str) -> None:
    with sooner_than(60, "a parser that reads each rest again"), contextlib.suppress(ShownValueError):
        parse(text)


def test_the_parser_is_imported_only_to_parse() -> None:
    program = "import sys, millrace_filters.expression_filter; print('lark' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


def test_the_wheel_has_the_grammar() -> None:
    assert (resources.files("millrace_filters") / "expression.lark").is_file()
