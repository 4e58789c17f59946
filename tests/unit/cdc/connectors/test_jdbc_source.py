"""Tables of a database as changes: none of their rows is lost or read twice."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import msgspec
import pytest

from millrace.errors import OptionsError
from millrace.options.parser import OptionParser
from millrace.testing import PipelineSourceSuite
from millrace_catalog.sinks.table_sink import TableSinkError
from millrace_cdc.connectors.jdbc.polling import JdbcStreamReader, PollingSettings, found_tables
from millrace_cdc.connectors.jdbc.positions import MOST_ROWS
from millrace_cdc.connectors.jdbc.reading import Login
from millrace_cdc.connectors.jdbc.source import JdbcPipelineSource

LOGIN = {"url": "jdbc:postgresql://localhost/shop", "username": "u", "password": "hunter2"}


def parse(**given: str):
    parser = OptionParser("source", {**LOGIN, "tables": r"public.\.*", **given})
    options = parser.take(JdbcPipelineSource.Options)
    parser.finish()
    return JdbcPipelineSource(options)


class TestSource(PipelineSourceSuite):
    def make_plugin(self):
        return parse(**{"scan.incremental.column": "at"})


def test_a_column_that_grows_and_a_snapshot_exclude_each_other():
    assert [each.option for each in parse().problems()] == ["scan.incremental.column"]
    assert [each.option for each in parse(url="jdbc:oracle:x", **{"scan.incremental.column": "a"}).problems()] == [
        "url"
    ]
    assert not list(parse(**{"scan.startup.mode": "snapshot"}).problems())
    assert "hunter2" not in repr(Login(**LOGIN))


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, price DECIMAL(5, 2), data BLOB, at INTEGER)")
        connection.execute("CREATE TABLE users (name TEXT, at INTEGER)")
        yield connection


def write(database, *rows):
    database.executemany("INSERT OR REPLACE INTO orders VALUES (?, ?, ?, ?)", rows)
    database.commit()


def reader_of(database, mode="initial", tables="orders", column="at"):
    ((_, _, path),) = database.execute("PRAGMA database_list").fetchall()
    return JdbcStreamReader(PollingSettings(Login(f"jdbc:sqlite:{path}"), tables, column, mode, 0))


def read(reader, start, end, column="id"):
    """Read what a micro-batch has, as Spark does."""
    messages = [message for part in reader.partitions(start, end) for message in reader.read(part)]
    return [msgspec.json.decode(message[5])[3][column] for message in messages]


def next_batch(reader, start):
    end = msgspec.json.decode(msgspec.json.encode(reader.latestOffset(start, None)))
    return end, read(reader, start, end)


def test_all_rows_come_first_and_then_those_that_have_changed(database):
    write(database, (1, "1.50", b"\0", 10), (2, None, None, 20), (3, "2", None, None))
    reader = reader_of(database)
    (part,) = reader.partitions({}, reader.latestOffset({}, None))
    messages = [msgspec.json.decode(message[5]) for message in reader.read(part)]
    columns = "id BIGINT, price STRING, data BYTES, at BIGINT"
    first = {"id": 1, "price": "1.5", "data": "AA==", "at": 10}
    assert messages[1] == ["orders", "c", None, first, columns, ["id"]]
    position, found = next_batch(reader, {})
    assert sorted(found) == [1, 2, 3]
    assert next_batch(reader, position) == (position, [])
    write(database, (1, "9", None, 30), (4, "9", b"\0\xff", 25))
    assert next_batch(reader, position)[1] == [4, 1]


def test_a_row_that_gets_the_last_value_later_is_not_lost(database):
    write(database, (2, "1", None, 10))
    reader = reader_of(database)
    position, found = next_batch(reader, {})
    # With a smaller key, and the same row with other values
    write(database, (1, "1", None, 10), (2, "2", None, 10))
    after, more = next_batch(reader, position)
    assert (found, more) == ([2], [1, 2])
    assert next_batch(reader, after)[1] == []


def test_rows_that_change_between_the_look_and_the_read_come_once(database):
    write(database, (1, "1", None, 10), (2, "1", None, 20))
    reader = reader_of(database)
    end = reader.latestOffset({}, None)
    write(database, (1, "2", None, 30), (3, "1", None, 20))
    assert read(reader, {}, end) == [2]
    assert next_batch(reader, end)[1] == [3, 1]


def test_many_rows_with_one_value_make_no_large_position(database):
    write(database, *((number, "1", None, 10) for number in range(MOST_ROWS + 1)))
    reader = reader_of(database)
    position, found = next_batch(reader, {})
    assert len(found) == MOST_ROWS + 1
    assert len(msgspec.json.encode(position)) < 200
    write(database, (9_999, "1", None, 11))
    assert next_batch(reader, position)[1] == [9_999]
    # One more with the old value: all of them again, rather than none
    write(database, (9_998, "1", None, 10))
    assert len(next_batch(reader, position)[1]) == MOST_ROWS + 3


def test_only_rows_that_change_after_the_start(database):
    write(database, (1, "1", None, 10))
    reader = reader_of(database, "latest-offset")
    start = reader.initialOffset()
    write(database, (2, "1", None, 10), (3, "1", None, 11))
    assert next_batch(reader, start)[1] == [2, 3]


@pytest.mark.parametrize(("mode", "expected"), [("initial", [1]), ("latest-offset", [])])
def test_a_run_that_ends_reads_the_rows_of_its_start(database, mode, expected):
    write(database, (1, "1", None, 10))
    reader = reader_of(database, mode)
    reader.prepareForTriggerAvailableNow()
    start = reader.initialOffset()
    write(database, (2, "1", None, 11))
    end, found = next_batch(reader, start)
    assert (found, next_batch(reader, end)) == (expected, (end, []))
    # The next run goes on there
    assert next_batch(reader_of(database, mode), end)[1] == [2]


def test_all_rows_once(database):
    write(database, (1, "1", None, 10), (2, "1", None, None))
    reader = reader_of(database, "snapshot", column=None)
    position, found = next_batch(reader, {})
    write(database, (3, "1", None, 10))
    assert (found, next_batch(reader, position)[1]) == ([1, 2], [])


def test_a_reader_waits_between_looks(database):
    write(database, (1, "1", None, 10))
    reader = reader_of(database)
    reader._settings = PollingSettings(reader._settings.login, "orders", "at", "initial", 3600)
    position, _ = next_batch(reader, {})
    write(database, (2, "1", None, 11))
    assert next_batch(reader, position) == (position, [])


def test_tables_that_are_not_there_are_told(database, tmp_path):
    assert [table.id for table in found_tables(reader_of(database, tables=r"\.*")._settings)] == ["orders", "users"]
    with pytest.raises(OptionsError, match="has no table 'nope'"):
        found_tables(reader_of(database, tables="nope")._settings)
    with pytest.raises(OptionsError, match=r"table users has no column 'id', but name, at"):
        found_tables(reader_of(database, tables="users", column="id")._settings)
    with pytest.raises(TableSinkError, match="could not be read"):
        found_tables(PollingSettings(Login(f"jdbc:sqlite:{tmp_path}/none.db"), "t", "at", "initial", 0))
