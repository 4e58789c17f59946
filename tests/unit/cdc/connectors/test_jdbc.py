"""The options and statements of databases as a sink of pipelines, and the last states of keys."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import msgspec
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types as sql

from millrace.errors import MessageError, OptionsError
from millrace.testing import PipelineSinkSuite
from millrace_catalog.sinks.jdbc.json_chunks import RowRecoding, json_chunks
from millrace_catalog.sinks.jdbc.postgresql import PostgreSQL
from millrace_catalog.sinks.jdbc.sqlite import SQLite
from millrace_catalog.sinks.jdbc.statements import RowStatements
from millrace_catalog.types import parse_schema
from millrace_cdc.connectors.final_states import FinalStates, KeyedTable
from millrace_cdc.connectors.jdbc.rows import RowSettings, write_chunks
from millrace_cdc.connectors.jdbc.sink import JdbcPipelineSink
from support.pipeline_sinks import make_sink

POSTGRESQL, LITE = "jdbc:postgresql://localhost/shop?password=hunter2", "jdbc:sqlite:/tmp/shop.db"
TABLES = {"t": KeyedTable(("id",), {}), "log": KeyedTable((), {}), "d": KeyedTable(("n",), {"n": "DECIMAL"})}


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


def changes(*rows) -> pa.RecordBatch:
    """Make a batch of (table, operation, before, after, partition, offset, seconds) and maybe the kept columns."""
    images = [[None if row[place] is None else msgspec.json.encode(row[place]) for row in rows] for place in (2, 3)]
    return pa.record_batch(
        {
            "table": pa.array([row[0] for row in rows], pa.string()),
            "operation": pa.array([row[1] for row in rows], pa.string()),
            "before": pa.array(images[0], pa.binary()),
            "after": pa.array(images[1], pa.binary()),
            "topic": pa.array(["topic"] * len(rows), pa.string()),
            "partition": pa.array([row[4] for row in rows], pa.int32()),
            "offset": pa.array([row[5] for row in rows], pa.int64()),
            "timestamp": pa.array([row[6] * 1_000_000 for row in rows], pa.int64()).cast(pa.timestamp("us", "UTC")),
            "kept": pa.array([row[7] if row[7:] else None for row in rows], pa.list_(pa.string())),
        }
    )


def test_equal_keys_with_other_digits_are_one():
    batch = changes(("d", "c", None, {"n": 1.5}, 0, 0, 0), ("d", "d", {"n": 1.50}, None, 0, 1, 1))
    texts = batch.set_column(2, "before", pa.array([None, b'{"n":1.50}'], pa.binary()))
    states = FinalStates(TABLES).read([texts])
    assert (list(states.rows("d")), list(states.deleted("d"))) == ([], [b'{"n":1.5}'])


def test_changes_without_place_and_timestamp_count_in_their_order():
    rows = [("t", "c", None, {"id": 1, "n": number}, None, None, 0) for number in (1, 2)]
    batch = changes(*rows)
    nulls = pa.nulls(2, pa.timestamp("us", "UTC"))
    states = FinalStates(TABLES).read([batch.set_column(batch.column_names.index("timestamp"), "timestamp", nulls)])
    assert [state.row for state in states.rows("t")] == [b'{"id":1,"n":2}']


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (
            ("log", "d", {"x": 1}, None, 3, 7, 0),
            "table 'log' of the sink: .* partition 3, offset 7: it has no primary key",
        ),
        (
            ("t", "c", None, {"id": None}, 0, 0, 0),
            "'t' of the sink: .* offset 0: it has NULL in column id",
        ),
        (
            ("t", "c", None, {"n": "null"}, 0, 0, 0),
            "'t' of the sink: .* offset 0: it has NULL in column id",
        ),
    ],
)
def test_rows_without_a_key_are_refused(row, expected):
    with pytest.raises(MessageError, match=expected):
        FinalStates(TABLES).read([changes(row)])


def test_a_value_that_a_row_keeps_is_that_of_an_earlier_row_of_its_key_or_stays_in_the_table():
    rows = [
        ("t", "c", None, {"id": 1, "n": 5}, 0, 0, 0),
        ("t", "u", None, {"id": 1, "n": None}, 0, 1, 1, ["n"]),
        ("t", "u", None, {"id": 2, "n": None}, 0, 2, 2, ["n"]),
        # An older value of another partition, which comes later
        ("t", "c", None, {"id": 2, "n": 7}, 1, 0, 1),
    ]
    states = FinalStates(TABLES).read([changes(*rows)])
    assert [(state.row, state.kept) for state in states.rows("t")] == [
        (b'{"id":1,"n":5}', ()),
        (b'{"id":2,"n":7}', ()),
    ]
    states = FinalStates(TABLES).read([changes(*rows[:3])])
    assert [(state.row, state.kept) for state in states.rows("t")][1] == (b'{"id":2,"n":null}', ("n",))


def test_an_update_that_moves_its_row_to_another_key_must_have_all_values():
    row = ("t", "u", {"id": 1, "n": None}, {"id": 2, "n": None}, 0, 4, 0, ["n"])
    with pytest.raises(MessageError, match=r"offset 4: it changes the key of its row, and lacks column n.*REPLICA"):
        FinalStates(TABLES).read([changes(row)])


def test_a_database_keeps_the_values_that_updates_lack_also_where_its_columns_are_not_null():
    columns = parse_schema("id BIGINT, a STRING, b STRING")
    dialect = SQLite()
    stored = dialect.stored_schema(columns)
    statements = RowStatements.of(dialect, "t", columns, stored, ("id",))
    tables = {"t": KeyedTable(("id",), {})}
    settings = RowSettings({"t": statements.recoding}, frozenset({"t"}), has_nul=True, database="SQLite", batch_rows=10)
    rows = [
        ("t", "u", None, {"id": 1, "a": "new", "b": None}, 0, 0, 0, ["b"]),
        ("t", "c", None, {"id": 2, "a": "c", "b": "d"}, 0, 1, 0),
        ("t", "u", None, {"id": 3, "a": None, "b": "new"}, 0, 2, 0, ["a"]),
    ]
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT NOT NULL, b TEXT NOT NULL)")
        connection.execute("INSERT INTO t VALUES (1, 'a', 'b'), (3, 'a', 'b')")
        for chunk in write_chunks(FinalStates(tables).read([changes(*rows)]), settings):
            ((text,), (kept,)) = (chunk.column(name).to_pylist() for name in ("rows", "kept"))
            connection.execute(statements.upsert_keeping(kept), (text,))
        found = connection.execute("SELECT * FROM t ORDER BY id").fetchall()
    assert found == [(1, "new", "b"), (2, "c", "d"), (3, "a", "new")]
