"""A folder of parquet files as a sink of replicate: its changes, and recovery at any point of one."""

from __future__ import annotations

import datetime
import itertools
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import Row

from millrace.errors import MachineError, SchemaError
from millrace_catalog import ParquetSink
from millrace_catalog.jvm import HadoopFolder
from millrace_catalog.types import parse_schema

KEY = "`partition` INT NOT NULL, `offset` BIGINT NOT NULL"
AT = datetime.datetime(2020, 12, 30, 12, 13, 14)
TYPES = (
    "flag BOOLEAN, n BIGINT, d DOUBLE, m DECIMAL(5, 2), day DATE, ts TIMESTAMP(3), at TIMESTAMP_LTZ(3), b BYTES, "
    "list ARRAY<BIGINT>, deep ROW<a BIGINT, at TIMESTAMP(3), none STRING>, wide ARRAY<BIGINT>, grows ROW<a BIGINT>"
)


class Killed(BaseException):
    """The end of the process."""


@pytest.fixture
def path(tmp_path):
    return f"{tmp_path}/table"


def rows(spark, columns, *values):
    """A micro-batch of one task."""
    schema = f"partition INT NOT NULL, offset BIGINT NOT NULL, {columns}"
    return spark.createDataFrame(list(values), schema).coalesce(1)


def files(path):
    """The names of the files that are not hidden."""
    return {file.name for file in Path(path).iterdir() if file.name[0] not in "._"}


def read(spark, path):
    """Read the rows as any reader of the folder does: dictionaries, sorted by key."""
    return [row.asDict(recursive=True) for row in spark.read.parquet(path).orderBy("partition", "offset").collect()]


def test_rows_come_once_columns_come_at_the_end_and_types_become_wider(spark, path):
    sink = ParquetSink(path)
    sink.prepare(spark, parse_schema(f"{KEY}, {TYPES}, last INT"))
    assert spark.read.parquet(path).columns[-1] == "last"
    first = (
        *(True, 12, 1.5, Decimal("1.50"), AT.date(), AT, AT.astimezone(datetime.UTC), b"\x00\xff"),
        *([1, None], Row(a=1, at=AT, none=None), [1], Row(a=1), 7),
    )
    spark_types = (
        "flag BOOLEAN, n BIGINT, d DOUBLE, m DECIMAL(5, 2), day DATE, ts TIMESTAMP_NTZ, at TIMESTAMP, b BINARY, "
        "list ARRAY<BIGINT>, deep STRUCT<a: BIGINT, at: TIMESTAMP_NTZ, none: STRING>, wide ARRAY<BIGINT>, "
        "grows STRUCT<a: BIGINT>, last INT"
    )
    old = rows(spark, spark_types, (0, 1, *first), (0, 3, *[None] * 13), (1, 1, *[None] * 13))
    sink.append(old)
    (before,) = (name for name in files(path) if name.startswith("part-"))

    # New columns and fields take no writing anew
    sink.prepare(spark, parse_schema(f"{KEY}, grows ROW<b STRING, a BIGINT>, new STRING"))
    assert before in files(path)
    assert read(spark, path)[0]["grows"] == {"a": 1, "b": None}

    texts = "flag STRING, n STRING, d STRING, m STRING, day STRING, ts STRING, at STRING, b STRING"
    wide = f"{KEY}, {texts}, list STRING, deep STRING, wide ARRAY<DOUBLE>, last DECIMAL(20, 0)"
    sink = ParquetSink(path)
    sink.prepare(spark, parse_schema(wide))
    # Among rows that are there, with other columns and narrower types
    sink.append(rows(spark, "new STRING, n BIGINT", *((0, offset, "x", offset) for offset in range(5))))
    sink.append(rows(spark, "new STRING", (0, 5, "y"), (2, 0, "y"), (1, 1, "y")))
    sink.append(rows(spark, "new STRING"))

    found = read(spark, path)
    assert [(row["partition"], row["offset"], row["new"], row["n"]) for row in found] == [
        (0, 0, "x", "0"),
        (0, 1, None, "12"),
        (0, 2, "x", "2"),
        (0, 3, None, None),
        (0, 4, "x", "4"),
        (0, 5, "y", None),
        (1, 1, None, None),
        (2, 0, "y", None),
    ]
    assert list(found[1].items()) == [
        ("partition", 0),
        ("offset", 1),
        ("flag", "true"),
        ("n", "12"),
        ("d", "1.5"),
        ("m", "1.50"),
        ("day", "2020-12-30"),
        ("ts", "2020-12-30 12:13:14"),
        ("at", "2020-12-30 12:13:14Z"),
        ("b", "AP8="),
        ("list", "[1,null]"),
        ("deep", '{"a":1,"at":"2020-12-30 12:13:14"}'),
        ("wide", [1.0]),
        ("grows", {"a": 1, "b": None}),
        ("last", Decimal(7)),
        ("new", None),
    ]
    assert not (Path(path) / "_millrace").exists()

    known = files(path)
    assert before not in known
    sink.prepare(spark, parse_schema(f"{KEY}, n BIGINT"))
    assert files(path) == known


@pytest.mark.nightly
def test_what_is_left_half_done_at_any_point_is_finished(spark, path):
    columns = "n BIGINT"
    sink = ParquetSink(path)
    sink.prepare(spark, parse_schema(f"{KEY}, {columns}"))
    sink.append(rows(spark, columns, (0, 0, 0), (1, 0, 0)))
    # Of two files
    batch = rows(spark, columns, (0, 0, 0), (1, 0, 0), (0, 1, 1), (1, 1, 1), (0, 2, 2), (1, 2, 2)).repartition(2, "n")
    left = 0

    def counted(operation):
        def count(self, *arguments):
            nonlocal left
            left -= 1
            if left < 0:
                raise Killed
            return operation(self, *arguments)

        return count

    class DeadlyFolder(HadoopFolder):
        """A folder whose process is killed after some operations."""

        move, delete = counted(HadoopFolder.move), counted(HadoopFolder.delete)
        write, make = counted(HadoopFolder.write), counted(HadoopFolder.make)

    def is_killed(point):
        nonlocal left
        left = point
        sink = ParquetSink(path, open_folder=DeadlyFolder)
        try:
            sink.prepare(spark, parse_schema(f"{KEY}, n STRING, new STRING"))
            sink.append(batch)
        except Killed:
            return True
        return False

    kills = sum(1 for _ in itertools.takewhile(is_killed, itertools.count()))
    assert kills > 5
    assert [(row["partition"], row["offset"], row["n"]) for row in read(spark, path)] == [
        (partition, number, str(number)) for partition in range(2) for number in range(3)
    ]
    assert spark.read.parquet(path).columns == ["partition", "offset", "n", "new"]


def test_what_cannot_be_a_sink_is_refused(spark, path):
    with pytest.raises(SchemaError, match=r"ParquetSink\('.*table'\) must be prepared before rows are appended"):
        ParquetSink(path).append(rows(spark, "n INT"))

    rows(spark, "N INT", (0, 0, 1)).write.parquet(path)
    with pytest.raises(SchemaError, match="would have the columns N and n, which differ only in case"):
        ParquetSink(path).prepare(spark, parse_schema(f"{KEY}, n INT"))
    # Files that were there already belong to the table
    ParquetSink(path).prepare(spark, parse_schema(f"{KEY}, N BIGINT, m INT"))
    assert read(spark, path) == [{"partition": 0, "offset": 0, "N": 1, "m": None}]

    sink = ParquetSink(path)
    sink.prepare(spark, parse_schema(f"{KEY}, N INT"))
    with pytest.raises(SchemaError, match="the sink has no column x: call prepare with the columns of the rows first"):
        sink.append(rows(spark, "N INT, x INT"))

    (Path(path) / "day=1").mkdir()
    with pytest.raises(SchemaError, match="contains a folder 'day=1'"):
        ParquetSink(path).prepare(spark, parse_schema(KEY))
    with pytest.raises(MachineError, match=r"Spark Connect has none: run it where the driver is"):
        ParquetSink(path).prepare(object(), parse_schema(KEY))
