"""Options of tables of files and of databases become Spark's."""

from __future__ import annotations

import pytest
from pyspark.sql import types as sql

from millrace.contracts import TableColumn, TableDescription
from millrace.errors import OptionsError, SchemaError
from millrace_sql.connectors.filesystem import FilesystemTableFactory
from millrace_sql.connectors.jdbc import JdbcOptions, JdbcTableFactory

ID, NAME = TableColumn("id", sql.LongType()), TableColumn("name", sql.StringType())


def files(*columns, **options):
    return TableDescription(("d", "d", "files"), columns or (ID, NAME), options={"path": "/nowhere", **options})


def test_a_table_of_files_ends_unless_it_is_monitored():
    factory = FilesystemTableFactory()
    assert factory.source(files(format="csv")).is_bounded
    assert not factory.source(files(format="csv", **{"source.monitor-interval": "5 s"})).is_bounded


@pytest.mark.parametrize(
    ("table", "error", "said"),
    [
        (files(format="avroo"), OptionsError, "expected one of csv, json, orc, parquet"),
        (
            files(format="csv", **{"sink.rolling-policy.file-size": "1MB"}),
            OptionsError,
            "sink.rolling-policy.file-size",
        ),
        (files(format="csv", **{"csv.heder": "true"}), OptionsError, "'csv.heder'; did you mean 'csv.header'?"),
        (files(format="json", **{"json.ignore-parse-errors": "x"}), OptionsError, "expected true or false; got 'x'"),
        (files(NAME, format="text", **{"text.header": "true"}), OptionsError, "unknown option 'text.header'"),
        (files(ID, format="raw"), SchemaError, "format 'raw' has one STRING column"),
        (
            files(ID, TableColumn("p", sql.StringType(), metadata_key="file.pth"), format="csv"),
            SchemaError,
            "unknown metadata 'file.pth'; did you mean 'file.path'",
        ),
    ],
)
def test_wrong_tables_of_files(table, error, said):
    with pytest.raises(error) as refusal:
        FilesystemTableFactory().source(table)
    assert said in str(refusal.value)


def test_file_metadata_is_only_read():
    column = TableColumn("p", sql.StringType(), metadata_key="file.path")
    with pytest.raises(SchemaError, match="declare it VIRTUAL"):
        FilesystemTableFactory().sink(files(ID, column, format="csv"))


def test_options_of_spark():
    options = JdbcOptions(
        url="jdbc:x:y",
        table_name="t",
        username="me",
        password="hunter2",
        timeout_ms=1500,
        properties=(("ssl", "true"),),
    )
    assert dict(options.spark_options()) == {
        "url": "jdbc:x:y",
        "dbtable": "t",
        "user": "me",
        "password": "hunter2",
        "queryTimeout": "2",
        "ssl": "true",
    }
    assert "hunter2" not in repr(options) + repr(options.spark_options())


def test_a_division_of_a_read_is_complete():
    table = TableDescription(
        ("d", "d", "t"), (ID,), options={"url": "jdbc:x:y", "table-name": "t", "scan.partition.num": "2"}
    )
    with pytest.raises(OptionsError, match=r"give 'scan.partition.column', 'scan.partition.lower-bound', .* too"):
        JdbcTableFactory().source(table)


def test_options_of_a_cache_of_lookups_are_a_warning(caplog):
    options = {"url": "jdbc:x:y", "table-name": "t", "lookup.cache": "PARTIAL", "lookup.partial-cache.max-rows": "9"}
    table = TableDescription(("d", "d", "t"), (ID,), options=options)

    JdbcTableFactory().check(table)

    assert "the options lookup.* have no effect: a join reads the rows of the table in each micro-batch" in caplog.text
