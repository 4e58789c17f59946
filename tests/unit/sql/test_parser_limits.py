"""Very long and deeply nested scripts end in statements or a syntax error, in a time that grows with their length."""

from __future__ import annotations

from contextlib import suppress

import pytest

from millrace_sql.errors import SqlSyntaxError
from millrace_sql.parser import parse

LONG = 200_000
SET = "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT "
SCRIPTS = {
    "open parentheses": "SELECT " + "(" * LONG,
    "balanced parentheses": "SELECT " + "(" * LONG + ")" * LONG,
    "parentheses before a query": "INSERT INTO t " + "(" * LONG + "SELECT",
    "open types": "CREATE TABLE t (a " + "ARRAY<" * LONG,
    "quotes": "SELECT " + "'" * (LONG + 1),
    "backticks": "`" * (LONG + 1),
    "backslashes": "SELECT '" + "\\" * LONG,
    "one word": "CREATE TABLE t (a " + "a" * LONG,
    "blanks": "CREATE TABLE" + " " * LONG,
    "blanks in a setting": "SET a = b" + " " * LONG + "x",
    "empty lines": "\n" * LONG + "x",
    "comments": "SELECT 1 " + "/**/" * LONG + "-",
    "comments behind a possible end": SET + "END " + "/**/" * LONG + "x",
    "possible ends": SET + "END " * (LONG // 4),
    "possible comments of a column": "CREATE TABLE t (a AS b " + "COMMENT " * (LONG // 8) + ")",
    "possible places of a column": "CREATE TABLE t AS TABLE s ADD COLUMN b AS " + "AFTER x " * (LONG // 8),
    "columns": "CREATE TABLE t (" + ", ".join(f"c{n} INT" for n in range(3_000)) + ")",
    "secrets before an error": "CREATE TABLE t WITH (" + ", ".join(f"'password{n}' = 'x'" for n in range(3_000)) + " !",
    "statements": "SET;" * 3_000,
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_a_long_script_takes_no_longer_than_its_length(script: str) -> None:
    # If time grew with the square of the length, each script would take several minutes
    with suppress(SqlSyntaxError):
        parse(script)


def nested(depth: int) -> str:
    return "CREATE TABLE t (a " + "ARRAY<" * depth + "INT" + ">" * depth + ")"


def test_types_are_nested_up_to_a_limit() -> None:
    (table,) = parse(nested(98))
    assert str(table.columns[0].type).count("ARRAY") == 98
    with pytest.raises(SqlSyntaxError, match="more than 100 deep"):
        parse(nested(101))


def test_an_error_in_a_long_line_shows_what_is_near() -> None:
    with pytest.raises(SqlSyntaxError) as caught:
        parse(f"CREATE TABLE t ({', '.join(f'c{n} INT' for n in range(100))}, x FOO, y {'INT' * 100})")
    line, caret = caught.value.excerpt.splitlines()
    assert len(line) < 120
    assert line[caret.index("^") :].startswith("FOO, y")
