"""Statements that create and change tables of databases."""

from __future__ import annotations

import pytest

from millrace.errors import SchemaError
from millrace_catalog.sinks.columns import check_case
from millrace_catalog.sinks.jdbc.postgresql import PostgreSQL
from millrace_catalog.sinks.jdbc.sqlite import SQLite
from millrace_catalog.types import parse_schema

KEY = "`partition` INT NOT NULL, `offset` BIGINT NOT NULL"
NAMES = ("partition", "offset")
ALL = (
    "a BOOLEAN, b TINYINT, c SMALLINT, d INT, e BIGINT, f FLOAT, g DOUBLE, h DECIMAL(10, 2), i CHAR(3), j VARCHAR(9), "
    "k STRING, l BINARY(2), m BYTES, n DATE, o TIME(3), p TIMESTAMP(3), q TIMESTAMP_LTZ(9), r TIMESTAMP_TZ(3), "
    "s VARIANT, t ARRAY<INT>, u MAP<STRING, INT>, v ROW<a INT>"
)


@pytest.mark.parametrize(
    ("dialect", "types"),
    [
        (
            SQLite(),
            "BOOLEAN, TINYINT, SMALLINT, INTEGER, BIGINT, DOUBLE, DOUBLE, TEXT, TEXT, TEXT, TEXT, BLOB, BLOB, TEXT, "
            "TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT, TEXT",
        ),
        (
            PostgreSQL(),
            "boolean, smallint, smallint, integer, bigint, real, double precision, numeric(10, 2), text, text, text, "
            "bytea, bytea, date, text, timestamp, timestamp with time zone, timestamp with time zone, text, text, "
            "text, text",
        ),
    ],
    ids=["sqlite", "postgresql"],
)
def test_every_type_is_held_as_one_that_the_database_gives_back(dialect, types):
    held = dialect.stored_schema(parse_schema(ALL))
    named = [dialect.sql_type(column.type) for column in held]

    assert ", ".join(named) == types
    shown = {"timestamp": "timestamp without time zone"}
    assert [dialect.parse_sql_type(shown.get(name, name)) for name in named] == [column.type for column in held]
    assert dialect.stored_schema(held) == held
    assert dialect.parse_sql_type("geometry(Point,4326)") is None


def test_names_are_quoted_and_the_key_is_the_primary_key():
    schema = parse_schema(f'{KEY}, `a"b` STRING')
    assert SQLite().create("my table", SQLite().stored_schema(schema), NAMES) == (
        'CREATE TABLE "my table" ("partition" INTEGER NOT NULL, "offset" BIGINT NOT NULL, "a""b" TEXT, '
        'PRIMARY KEY ("partition", "offset"))'
    )
    assert PostgreSQL().create("s.t", PostgreSQL().stored_schema(schema), NAMES).startswith('CREATE TABLE "s"."t" (')
    assert "to_regclass('\"it''s\"')" in PostgreSQL().columns_query("it's")
    assert "pragma_table_info('it''s', 'main')" in SQLite().columns_query("main.it's")


def test_columns_are_added_and_widened():
    before, after = (
        parse_schema(f"{KEY}, n BIGINT, at TIMESTAMP(6)"),
        parse_schema(f"{KEY}, n STRING, at TIMESTAMP_LTZ(6), x DATE"),
    )
    assert PostgreSQL().change("t", before, after, NAMES, "Europe/Berlin") == [
        'ALTER TABLE "t" ALTER COLUMN "n" TYPE text USING "n"::text, ALTER COLUMN "at" TYPE timestamp with time zone '
        "USING \"at\" AT TIME ZONE 'Europe/Berlin'",
        'ALTER TABLE "t" ADD COLUMN "x" date',
    ]
    assert "AT TIME ZONE INTERVAL '+01:00'" in PostgreSQL().change("t", before, after, NAMES, "+01:00")[0]
    assert PostgreSQL().change("t", after, after, NAMES, "UTC") == []

    before, after = parse_schema(f"{KEY}, n BIGINT"), parse_schema(f"{KEY}, n STRING, x STRING")
    assert SQLite().change("t", before, after, NAMES, "UTC") == [
        'CREATE TABLE "t (wider)" ("partition" INTEGER NOT NULL, "offset" BIGINT NOT NULL, "n" TEXT, '
        'PRIMARY KEY ("partition", "offset"))',
        'INSERT INTO "t (wider)" SELECT "partition", "offset", CAST("n" AS TEXT) FROM "t"',
        'DROP TABLE "t"',
        'ALTER TABLE "t (wider)" RENAME TO "t"',
        'ALTER TABLE "t" ADD COLUMN "x" TEXT',
    ]
    with pytest.raises(SchemaError, match="SQLite cannot convert column b from bytes to STRING"):
        SQLite().change("t", parse_schema(f"{KEY}, b BYTES"), parse_schema(f"{KEY}, b STRING"), NAMES, "UTC")


def test_names_that_differ_in_case_only_are_refused():
    check_case(("a", "b"), "table 'orders'")
    with pytest.raises(SchemaError, match="table 'orders' would have the columns id and ID, which differ only in case"):
        check_case(("id", "b", "ID"), "table 'orders'")


def test_errors_of_a_database_that_is_away_or_busy_are_told_from_others():
    transient = ["08001", "08006", "40001", "40P01", "53300", "55P03", "57P01", "57P03"]
    lasting = ["28P01", "3D000", "22003", "23505", "42601", "55000", None]
    assert [PostgreSQL().is_transient(state, 0) for state in (*transient, *lasting)] == [True] * 8 + [False] * 7
    assert [SQLite().is_transient(None, code) for code in (5, 6, 517, 1, 8, 14, 19)] == [True] * 3 + [False] * 4


def test_a_table_without_a_constraint_on_its_key_is_told_from_other_errors():
    reason = "ERROR: there is no unique or exclusion constraint matching the ON CONFLICT specification"
    assert PostgreSQL().lacks_unique_key("42P10", reason)
    assert not PostgreSQL().lacks_unique_key("42P10", 'ERROR: invalid reference to column "x"')
    assert SQLite().lacks_unique_key(None, "ON CONFLICT clause does not match any PRIMARY KEY or UNIQUE constraint")
    assert not SQLite().lacks_unique_key(None, "UNIQUE constraint failed: t.id")
