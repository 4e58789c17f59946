"""Statements and their parts, as the parser returns them."""

from __future__ import annotations

import pytest

from millrace_catalog.types import parse_type
from millrace_sql.errors import SqlSyntaxError
from millrace_sql.parser import parse
from millrace_sql.script_texts import Identifier, ScriptPosition, SqlText
from millrace_sql.statements import (
    ComputedColumn,
    CreateTable,
    Insert,
    MetadataColumn,
    PhysicalColumn,
    PrimaryKey,
    Query,
    Watermark,
)


def test_a_table_has_all_its_parts_in_order():
    (table,) = parse(
        """CREATE TEMPORARY TABLE shop.`orders` (
             id BIGINT NOT NULL COMMENT 'it''s unique',
             `offset` BIGINT METADATA VIRTUAL, -- of the record
             sent TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',
             day AS CAST(sent AS DATE),
             PRIMARY KEY (id) NOT ENFORCED,
             WATERMARK FOR sent AS sent - INTERVAL '5' SECOND
           ) COMMENT 'orders' PARTITIONED BY (day) WITH ('connector' = 'kafka', /* all of */ 'topic' = 'o')"""
    )
    assert table == CreateTable(
        Identifier(("shop", "orders")),
        (
            PhysicalColumn("id", parse_type("BIGINT NOT NULL"), "it's unique"),
            MetadataColumn("offset", parse_type("BIGINT"), is_virtual=True),
            MetadataColumn("sent", parse_type("TIMESTAMP_LTZ(3)"), "timestamp"),
            ComputedColumn("day", SqlText("CAST(sent AS DATE)")),
        ),
        PrimaryKey(("id",)),
        Watermark("sent", SqlText("sent - INTERVAL '5' SECOND")),
        "orders",
        ("day",),
        {"connector": "kafka", "topic": "o"},
        is_temporary=True,
    )


def test_statements_and_queries_know_their_places():
    statements = parse("SET 'a' = 'b';\n\n  INSERT INTO t\n    SELECT 1;\nSELECT 2")
    assert [statement.position for statement in statements] == [
        ScriptPosition(1, 1),
        ScriptPosition(3, 3),
        ScriptPosition(5, 1),
    ]
    insert, query = statements[1:]
    assert isinstance(insert, Insert)
    assert isinstance(query, Query)
    assert insert.table.position == ScriptPosition(3, 15)
    assert insert.query.position == ScriptPosition(4, 5)
    assert query.query.position == ScriptPosition(5, 1)


def test_an_error_names_place_line_and_what_was_meant():
    with pytest.raises(SqlSyntaxError) as caught:
        parse("SELECT 1;\nCREATE TABLE t (\n\tid BIGNT\n)")
    assert str(caught.value) == (
        "line 3, column 5: expected a type or AS, found 'BIGNT'; did you mean BIGINT?\n  \tid BIGNT\n  \t   ^"
    )


def test_secrets_are_neither_in_errors_nor_in_the_representation_of_statements():
    with pytest.raises(SqlSyntaxError) as caught:
        parse("CREATE TABLE t WITH ('sasl.password' = 'hush' 'topic' = 'a')")
    assert "hush" not in str(caught.value)
    assert "'***' 'topic'" in str(caught.value)
    assert "hush" not in repr(parse("CREATE TABLE t WITH ('sasl.password' = 'hush')"))
