"""Completion: the words and names that a shell can offer at a place in a script; ``|`` is the place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millrace_sql.parser import is_complete
from millrace_sql.parser.completion import Completion, complete
from millrace_sql.parser.expected_names import ExpectedNames
from millrace_sql.script_texts import Identifier

ORDERS = (Identifier(("shop", "orders")),)


def at(text: str) -> Completion:
    before, _, after = text.partition("|")
    return complete(before + after, len(before))


@pytest.mark.parametrize(
    ("text", "keywords"),
    [
        ("CRE|", ("CREATE",)),
        ("create t|", ("TABLE", "TEMPORARY")),
        ("SELECT 1; drop |", ("CATALOG", "DATABASE", "FUNCTION", "SYSTEM", "TABLE", "TEMPORARY", "VIEW")),
        ("CREATE TABLE t (id BIG|", ("BIGINT",)),
        ("CREATE TABLE t (id BIGINT M|", ("METADATA",)),
        ("CREATE TABLE t (a INT) |", ("AS", "COMMENT", "LIKE", "PARTITIONED", "WITH")),
        ("CREATE VIEW v AS |", ("FROM", "SELECT", "TABLE", "VALUES", "WITH")),
        ("SHOW CREATE |", ("TABLE", "VIEW")),
        ("INSERT INTO t SEL|", ("SELECT",)),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; |", ("END", "INSERT")),
        ("SELECT * FROM t WH|", ("WHEN", "WHERE")),
        ("SELECT * FROM t -- WH|", ()),
        ("CREATE /* TAB|", ()),
        ("FOO BAR |", ()),
    ],
)
def test_keywords(text: str, keywords: tuple[str, ...]) -> None:
    assert at(text).keywords == keywords


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("DROP TABLE IF EXISTS |", ExpectedNames(("table",))),
        ("DESCRIBE shop.o|", ExpectedNames(("table", "view"), ("shop",))),
        ("ALTER TABLE a.b.`|", ExpectedNames(("table",), ("a", "b"))),
        ("INSERT INTO |", ExpectedNames(("table",))),
        ("USE CATALOG |", ExpectedNames(("catalog",))),
        ("SHOW TABLES FROM |", ExpectedNames(("database",))),
        ("SHOW COLUMNS FROM |", ExpectedNames(("table", "view"))),
        ("CREATE TABLE |", ExpectedNames()),
        ("CREATE TABLE t LIKE |", ExpectedNames(("table",))),
        ("INSERT INTO shop.t (a, |", ExpectedNames(("column",), tables=(Identifier(("shop", "t")),))),
        (
            "CREATE TABLE t (a INT, `b c` ROW<x INT, y INT>, PRIMARY KEY (|",
            ExpectedNames(("column",), columns=("a", "b c")),
        ),
        ("CREATE TABLE t (a INT, WATERMARK FOR |", ExpectedNames(("column",), columns=("a",))),
        ("CREATE TABLE t (a INT) PARTITIONED BY (|", ExpectedNames(("column",), columns=("a",))),
        ("CREATE TABLE t (a INT, b AS f(|", ExpectedNames(("column", "function"), columns=("a", "b"))),
        ("CREATE TABLE t (a INT METADATA FROM '|", ExpectedNames(("metadata key",))),
        ("CREATE TABLE t WITH ('|", ExpectedNames(("option",))),
        (
            "CREATE TABLE t WITH ('connector' = 'kafka', 'to|",
            ExpectedNames(("option",), options={"connector": "kafka"}),
        ),
        (
            "CREATE TABLE t WITH ('connector' = 'kafka', 'format' = '|",
            ExpectedNames(("option value",), options={"connector": "kafka"}, key="format"),
        ),
        ("INSERT INTO t /*+ OPTIONS('|", ExpectedNames(("option",))),
        ("ALTER TABLE t RESET ('|", ExpectedNames(("option",))),
        ("SET |", ExpectedNames(("setting",))),
        ("SET execution.run|", ExpectedNames(("setting",))),
        ("SET 'pipe|", ExpectedNames(("setting",))),
        ("SET pipeline.name = |", ExpectedNames(("setting value",), key="pipeline.name")),
        ("SELECT * FROM |", ExpectedNames(("table", "view"))),
        ("SELECT * FROM a, shop.|", ExpectedNames(("table", "view"), ("shop",))),
        ("SELECT * FROM a |", ExpectedNames()),
        (
            "SELECT | FROM shop.orders o",
            ExpectedNames(("column", "function"), tables=ORDERS),
        ),
        (
            "SELECT o.| FROM a JOIN shop.orders AS o",
            ExpectedNames(("column",), ("o",), ORDERS),
        ),
        ("SELECT * FROM a WHERE (x = 'y' AND |", ExpectedNames(("column", "function"), tables=(Identifier(("a",)),))),
        ("SELECT 'a|", ExpectedNames()),
    ],
)
def test_names(text: str, names: ExpectedNames) -> None:
    assert at(text).names == names


def test_the_place_of_the_word_is_known() -> None:
    assert (at("SELECT 1;\nDROP TABLE ord|ers").start, at("DROP TABLE ord|ers").prefix) == (21, "ord")
    in_quotes = at("CREATE TABLE t WITH ('conn|")
    assert (in_quotes.start, in_quotes.prefix, in_quotes.quote) == (22, "conn", "'")


PIECES = st.sampled_from(
    ["CREATE", "TABLE", "t", "(", ")", "'", "`", "SELECT", "FROM", ".", ",", ";", "WITH", "=", "AS", "--", "/*"]
)


@given(st.lists(PIECES).map(" ".join) | st.text(), st.data())
def test_at_any_place_of_any_text_something_or_nothing_may_follow(text: str, data: st.DataObject) -> None:
    cursor = data.draw(st.integers(0, len(text)))
    completion = complete(text, cursor)
    assert completion.start + len(completion.prefix) == cursor


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True),
        ("SELECT 1;", True),
        ("SELECT 1; -- done", True),
        ("SELECT 1", False),
        ("SELECT (1", False),
        ("SELECT (1;", True),
        ("SELECT ';", False),
        ("SELECT 1; /* and", False),
        ("CREATE TABLE t (", False),
        ("CREATE TABLE t (;", True),
        ("CREAT TABLE", True),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1;", False),
        ("EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; END;", True),
    ],
)
def test_a_shell_asks_for_more_until_a_statement_ends(text: str, expected: bool) -> None:
    assert is_complete(text) is expected
