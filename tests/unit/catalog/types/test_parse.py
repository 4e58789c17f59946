"""Texts of types: their meaning, and errors for texts without one."""

from __future__ import annotations

import pytest

from millrace_catalog.types import parse_schema, parse_type


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("int", "INT"),
        (" Integer  not  null ", "INT NOT NULL"),
        ("INT NULL", "INT"),
        ("DECIMAL", "DECIMAL(10, 0)"),
        ("dec(4)", "DECIMAL(4, 0)"),
        ("NUMERIC(4,2)", "DECIMAL(4, 2)"),
        ("DOUBLE PRECISION", "DOUBLE"),
        ("CHAR", "CHAR(1)"),
        ("VARCHAR", "STRING"),
        ("VARBINARY", "BYTES"),
        ("BINARY", "BINARY(1)"),
        ("TIME", "TIME(0)"),
        ("TIME(3) WITHOUT TIME ZONE", "TIME(3)"),
        ("TIMESTAMP", "TIMESTAMP(6)"),
        ("TIMESTAMP_NTZ(3)", "TIMESTAMP(3)"),
        ("TIMESTAMP(3) WITHOUT TIME ZONE", "TIMESTAMP(3)"),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL", "TIMESTAMP_LTZ(3) NOT NULL"),
        ("TIMESTAMP WITH TIME ZONE", "TIMESTAMP_TZ(6)"),
        ("array<array<int not null>>", "ARRAY<ARRAY<INT NOT NULL>>"),
        ("MAP<STRING,ROW<a INT>>", "MAP<STRING, ROW<a INT>>"),
        ("ROW(a INT 'of it''s own', `b ``c` STRING COMMENT 'x')", "ROW<a INT, `b ``c` STRING>"),
        ("struct<a:int,b:struct<c:string>>", "ROW<a INT, b ROW<c STRING>>"),
        ("ROW<>", "ROW<>"),
    ],
)
def test_a_text_means(text: str, canonical: str) -> None:
    assert str(parse_type(text)) == canonical


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "expected a type at character 1, found the end"),
        ("BIGNT", "expected a type at character 1, found 'BIGNT'; did you mean BIGINT?"),
        ("`INT`", "expected a type at character 2, found 'INT'"),
        ("INT INT", "expected the end at character 5, found 'INT'"),
        ("ARRAY<INT", "expected '>' at character 10, found the end"),
        ("MAP<INT>", "expected ',' at character 8, found '>'"),
        ("ROW<INT>", "expected a type at character 8, found '>'"),
        ("ROW<a INT, a INT>", "expected each field of a ROW once, but a is repeated"),
        ("DECIMAL(39)", "at character 1: the digits of a DECIMAL must be from 1 to 38, not 39"),
        ("DECIMAL(5, 6)", "at character 1: the scale of a DECIMAL of 5 digits must be from 0 to 5, not 6"),
        ("DECIMAL(x)", "expected a whole number at character 9, found 'x'"),
        ("TIMESTAMP(10)", "the precision of a TIMESTAMP must be from 0 to 9, not 10"),
        ("CHAR(0)", "the length of a CHAR must be from 1 to 2147483647, not 0"),
        ("INT %", "expected the end at character 5, found '%'"),
        ("NULL NOT NULL", "expected the end at character 6, found 'NOT'"),
        ("ARRAY<" * 5000, "nested in each other more than 100 deep"),
    ],
)
def test_what_is_no_type_says_where(text: str, problem: str) -> None:
    with pytest.raises(ValueError) as failure:  # noqa: PT011 - the text is compared
        parse_type(text)
    assert problem in str(failure.value)


def test_a_schema_is_a_list_of_names_and_types() -> None:
    schema = parse_schema("id BIGINT NOT NULL, name VARCHAR(10), a.b INT, `date` DATE, 1st INT, größe INT")

    assert schema.names == ("id", "name", "a.b", "date", "1st", "größe")
    assert str(schema) == "id BIGINT NOT NULL, name VARCHAR(10), `a.b` INT, date DATE, `1st` INT, `größe` INT"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "expected a name at character 1, found the end"),
        ("id", "expected a type at character 3, found the end"),
        ("id INT,", "expected a name at character 8, found the end"),
        ("id INT, id INT", "expected each column once, but id is repeated"),
    ],
)
def test_what_is_no_schema_says_where(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_schema(text)
