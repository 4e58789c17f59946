"""The options, rows and statements of databases as a sink of pipelines."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types as sql

from millrace.errors import OptionsError
from millrace.testing import PipelineSinkSuite
from millrace_catalog.sinks.jdbc.json_chunks import RowRecoding, json_chunks
from millrace_catalog.sinks.jdbc.postgresql import PostgreSQL
from millrace_catalog.sinks.jdbc.sqlite import SQLite
from millrace_catalog.sinks.jdbc.statements import RowStatements
from millrace_catalog.types import parse_schema
from millrace_cdc.connectors.jdbc.rows import ChunkEncoder, RowSettings
from millrace_cdc.connectors.jdbc.sink import JdbcPipelineSink
from millrace_cdc.connectors.table_changes.row_images import ChangeError
from support.pipeline_sinks import make_sink
from support.table_changes import changes_at

POSTGRESQL, LITE = "jdbc:postgresql://localhost/shop?password=hunter2", "jdbc:sqlite:/tmp/shop.db"


class TestJdbcSink(PipelineSinkSuite):
    def make_plugin(self):
        return make_sink(JdbcPipelineSink, url=POSTGRESQL)


def test_options_are_those_of_flink_and_secrets_are_in_no_repr():
    given = {"username": "tests", "password": "hunter3", "properties.sslpassword": "hunter4"}
    options = make_sink(JdbcPipelineSink, url=POSTGRESQL, **given).options
    assert dict(options.driver_properties()) == {"user": "tests", "password": "hunter3", "sslpassword": "hunter4"}
    assert "hunter" not in repr(options)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {"url": "jdbc:mysql://localhost/shop?password=hunter2"},
            "database jdbc:mysql is not supported: expected a URL",
        ),
        ({"url": LITE, "schema-name": "shop"}, "SQLite has no schemas"),
    ],
)
def test_options_that_do_not_go_together(options, expected):
    (problem,) = make_sink(JdbcPipelineSink, **options).problems()
    assert problem.sentence.startswith(expected)
    assert "hunter2" not in problem.sentence
    with pytest.raises(OptionsError, match=r"sink.buffer-flush.max-rows.*greater than 0"):
        make_sink(JdbcPipelineSink, url=LITE, **{"sink.buffer-flush.max-rows": "0"})


def test_ids_of_tables_become_names():
    names = ["orders", "shop.orders", "crm.shop.orders"]
    assert [make_sink(JdbcPipelineSink, url=LITE)._name(name) for name in names] == ["orders"] * 3
    given = make_sink(JdbcPipelineSink, url=POSTGRESQL)
    assert [given._name(name) for name in names] == ["orders", "shop.orders", "shop.orders"]
    fixed = make_sink(JdbcPipelineSink, url=POSTGRESQL, **{"schema-name": "ods"})
    assert {fixed._name(name) for name in names} == {"ods.orders"}
    fixed._table("shop.orders")
    with pytest.raises(ValueError, match=r"schema\.table"):
        fixed._name("a.b.c.d")


def test_bytes_that_become_text_are_for_postgresql_only():
    sinks = (make_sink(JdbcPipelineSink, url=url) for url in (POSTGRESQL, LITE))
    assert [sink.can_widen(sql.BinaryType(), sql.StringType()) for sink in sinks] == [True, False]
    assert make_sink(JdbcPipelineSink, url=LITE).can_widen(sql.LongType(), sql.StringType())


def test_statements_write_all_rows_of_a_parameter():
    schema = parse_schema("id BIGINT NOT NULL, b BYTES, j ARRAY<INT>")
    stored = PostgreSQL().stored_schema(schema)
    statements = RowStatements.of(PostgreSQL(), "s.t", schema, stored, ["id"])
    rows = 'json_to_recordset(CAST(? AS json)) AS r ("id" bigint, "b" text, "j" json)'
    insert = f'INSERT INTO "s"."t" ("id", "b", "j") SELECT r."id", decode(r."b", \'base64\'), r."j"::text FROM {rows}'
    assert statements.insert == insert
    assert statements.upsert == (
        f'{insert} WHERE true ON CONFLICT ("id") DO UPDATE SET "b" = excluded."b", "j" = excluded."j"'
    )
    assert statements.delete == (
        'DELETE FROM "s"."t" WHERE ("id") IN (SELECT r."id" FROM json_to_recordset(CAST(? AS json)) AS r ("id" bigint))'
    )
    lite = RowStatements.of(SQLite(), "t", parse_schema("id INT"), parse_schema("id INT"), ["id"])
    assert lite.upsert == (
        'INSERT INTO "t" ("id") SELECT r.value ->> \'$."id"\' FROM json_each(?) AS r '
        'WHERE true ON CONFLICT ("id") DO NOTHING'
    )


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_is_written_as_two_whole_numbers_where_its_digits_are_many(value):
    (row,) = RowRecoding(binary_columns=frozenset({"d"})).recode([msgspec.json.encode({"d": value, "e": 0.1})])
    read = msgspec.json.decode(row)
    assert read["e"] == 0.1
    if isinstance(read["d"], list):
        mantissa, exponent = read["d"]
        assert abs(mantissa) < 2**53
        assert float(mantissa) * 2.0 ** max(exponent, -1074) == value
    else:
        assert read["d"] == value
        assert len(repr(value)) <= 15


def test_rows_are_divided_by_number_and_size():
    assert list(json_chunks([b"1", b"2", b"3"], 2)) == ["[1,2]", "[3]"]
    assert [len(chunk) for chunk in json_chunks([b"0" * 3_000_000] * 3)] == [6_000_003, 3_000_002]


def chunks(key, *rows, recoding=None, has_nul=False):
    settings = RowSettings({"t": recoding or RowRecoding()}, {"t": key}, has_nul, "PostgreSQL", batch_rows=2)
    found = (chunk for batch in ChunkEncoder(settings)("t", 0, changes_at(*rows)) for chunk in batch.to_pylist())
    return [(chunk["action"], chunk["rows"], *filter(None, [chunk["kept"]])) for chunk in found]


def test_chunks_have_the_final_states_of_keys_as_the_rows_were_written_and_deletions_come_first():
    rows = [
        ("c", None, b'{"id":1,"x":1.50}'),
        ("c", None, b'{"id":2,"x":2.0}'),
        ("u", b'{"id":2,"x":2.0}', b'{"id":3,"x":2.0}'),
        ("c", None, b'{"id":4,"x":null}'),
    ]
    assert chunks(pa.schema([("id", pa.int64())]), *rows) == [
        ("delete", '[{"id":2}]'),
        ("upsert", '[{"id":1,"x":1.50},{"id":3,"x":2.0}]'),
        ("upsert", '[{"id":4,"x":null}]'),
    ]
    assert chunks(pa.schema([]), *rows[:2]) == [("insert", '[{"id":1,"x":1.50},{"id":2,"x":2.0}]')]


def test_keys_that_are_stored_as_text_have_one_text_for_equal_values():
    key, recoding = pa.schema([("n", pa.decimal128(9, 2))]), RowRecoding(text_keys={"n": "DECIMAL"})
    rows = [("c", None, b'{"n":1.50}'), ("d", b'{"n":2.50}', None)]
    assert chunks(key, *rows, recoding=recoding) == [("delete", '[{"n":2.5}]'), ("upsert", '[{"n":1.5}]')]


def test_a_text_that_the_database_cannot_have_is_named_by_its_column_and_message():
    rows = [("c", None, {"id": 1, "a": "\\u0000"}), ("c", None, {"id": 2, "a": "", "b": "x\0"})]
    key = pa.schema([("id", pa.int64())])
    with pytest.raises(ChangeError, match="offset 1 does not fit it: column b has the character"):
        chunks(key, *rows)
    assert len(chunks(key, *rows, has_nul=True)) == 1


def test_a_database_keeps_the_values_that_updates_lack_also_where_its_columns_are_not_null():
    columns, dialect = parse_schema("id BIGINT, a STRING, b STRING"), SQLite()
    statements = RowStatements.of(dialect, "t", columns, dialect.stored_schema(columns), ("id",))
    rows = [
        ("u", None, {"id": 1, "a": "new", "b": None}, {"kept": ["b"]}),
        ("c", None, {"id": 2, "a": "c", "b": "d"}),
        ("u", None, {"id": 3, "a": None, "b": "new"}, {"kept": ["a"]}),
    ]
    found = chunks(pa.schema([("id", pa.int64())]), *rows, recoding=statements.recoding)
    assert found == [
        ("upsert", '[{"id":2,"a":"c","b":"d"}]'),
        ("upsert", '[{"id":1,"a":"new","b":null}]', ["b"]),
        ("upsert", '[{"id":3,"a":null,"b":"new"}]', ["a"]),
    ]
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT NOT NULL, b TEXT NOT NULL)")
        connection.execute("INSERT INTO t VALUES (1, 'a', 'b'), (3, 'a', 'b')")
        for _, text, *kept in found:
            connection.execute(statements.upsert_keeping(*kept or [()]), (text,))
        stored = connection.execute("SELECT * FROM t ORDER BY id").fetchall()
    assert stored == [(1, "new", "b"), (2, "c", "d"), (3, "a", "new")]
