"""Columns in Spark's DDL, parsed without Spark; `integration/test_read_arrow.py` compares with Spark's own parser."""

from __future__ import annotations

import pytest

from millrace.errors import SchemaError
from millrace.spark.ddl import parse_ddl


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("id BIGIMT", "expected a type at character 4, found 'BIGIMT'; did you mean BIGINT?"),
        ("id", "expected a type at character 3, found the end"),
        ("", "expected the name of a column at character 1, found the end"),
        ("id INT,", "expected the name of a column at character 8, found the end"),
        ("'id' INT", "expected the name of a column at character 1, found \"'id'\""),
        ("id INT NOT", "expected 'NULL' at character 11, found the end"),
        ("id INT name STRING", "expected ',' or the end at character 8, found 'name'"),
        ("a ARRAY<INT", "expected '>' at character 12, found the end"),
        ("m MAP<STRING>", "expected ',' at character 13, found '>'"),
        ("d DECIMAL(x)", "expected a number at character 11, found 'x'"),
        ("d DECIMAL(1, 2, 3)", "expected at most 2 in parentheses at character 18, found ')'"),
        ("a VARCHAR", "expected a length in parentheses at character 10, found the end"),
        ("a INT COMMENT b", "expected a text in quotes at character 15, found 'b'"),
        ("a `", "expected a type at character 3, found '`'"),
    ],
)
def test_a_mistake_is_told_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(SchemaError) as raised:
        parse_ddl(text)
    assert str(raised.value) == f"schema: {problem}"


def test_what_holds_the_text_is_named() -> None:
    with pytest.raises(SchemaError, match="option 'columns': expected a type"):
        parse_ddl("id", "option 'columns'")


def test_names_types_and_comments_are_those_of_the_text() -> None:
    fields = parse_ddl("`a``b` INT COMMENT 'it\\'s', c: STRUCT<d: DECIMAL(9, 2) NOT NULL> not null")

    assert [(field.name, field.dataType.simpleString(), field.nullable) for field in fields] == [
        ("a`b", "int", True),
        ("c", "struct<d:decimal(9,2)>", False),
    ]
    assert fields["a`b"].metadata == {"comment": "it's"}
    assert not fields["c"].dataType["d"].nullable
