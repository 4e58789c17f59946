"""Ids of statements, which must be the same in every session."""

from __future__ import annotations

import pytest

from millrace_sql.execution.checkpoints import statement_id
from millrace_sql.script_texts import Identifier, SqlText
from millrace_sql.statements import Insert

TABLE = Identifier(("c", "d", "t"))


def id_of(query, **parts):
    return statement_id(Insert(TABLE, SqlText(query), **parts), TABLE)


def test_an_id_never_changes():
    # Checkpoints of users have it in their names
    assert id_of("SELECT id FROM orders") == "81724b7086"


@pytest.mark.parametrize(
    "query",
    [
        "SELECT  id\n FROM orders ",
        "SELECT id -- the key\nFROM orders",
        "SELECT/* of */id FROM orders\n-- end",
        "SELECT id FROM orders /*+ OPTIONS('scan.startup.mode' = 'earliest-offset') */",
    ],
)
def test_layout_comments_and_hints_are_not_part_of_it(query):
    assert id_of(query) == id_of("SELECT id FROM orders")


@pytest.mark.parametrize(
    ("query", "other"),
    [
        ("SELECT 'a  b'", "SELECT 'a b'"),
        ("SELECT '-- a'", "SELECT '-- b'"),
        ("SELECT '/* a */'", "SELECT '/* b */'"),
        ("SELECT `a  b`", "SELECT `a b`"),
        ("SELECT 'it''s  x'", "SELECT 'it''s x'"),
    ],
)
def test_what_a_query_means_is_part_of_it(query, other):
    assert id_of(query) != id_of(other)


def test_columns_and_partitions_are_part_of_it():
    ids = {id_of("SELECT 1"), id_of("SELECT 1", columns=("a",)), id_of("SELECT 1", partition={"a": "1"})}
    assert len(ids) == 3
