"""Folders of parquet files with all changes of tables."""

from __future__ import annotations

import pytest
from pyspark.errors import StreamingQueryException

from millrace_cdc import Pipeline
from millrace_cdc.connectors.parquet.sink import ParquetPipelineSink
from support.pipeline_sinks import Table, make_sink

FIRST = """
+I shop.a {"id": 1, "n": 1}
-U shop.a {"id": 1, "n": 1}
+U shop.a {"id": 1, "n": 2}
+I shop.b {"text": "one", "day": "2024-01-02", "at": "2024-01-02 03:04:05Z", "tags": ["x"]}
"""
# BIGINT becomes DOUBLE, and a column is new
SECOND = """
-D shop.a {"id": 1, "n": 2}
+I shop.a {"id": 2, "n": 2.5, "new": true}
"""
FILE = """
source:
  type: values
  changes: |
    {changes}
sink: {{type: parquet, path: '{path}'}}
"""


def pipeline(path, *changes) -> Pipeline:
    lines = [line for each in changes for line in each.strip().splitlines()]
    return Pipeline.from_yaml(FILE.format(changes="\n    ".join(lines), path=path))


def run(spark, pipeline, checkpoint) -> None:
    pipeline.run(spark, checkpoint_location=str(checkpoint), once=True).await_termination()


def rows(spark, path, *columns) -> list[tuple]:
    found = spark.read.parquet(str(path)).orderBy("__offset", "row_kind")
    # +U sorts before -U
    return sorted((tuple(row) for row in found.select(*columns).collect()), key=lambda row: (row[-1], row[0] == "+U"))


def test_folders_have_all_rows_of_changes_and_follow_columns(spark, tmp_path, monkeypatch):
    warehouse, checkpoint = tmp_path / "warehouse", tmp_path / "checkpoint"
    run(spark, pipeline(warehouse, FIRST), checkpoint)
    assert rows(spark, warehouse / "shop.a", "row_kind", "id", "n", "__offset") == [
        ("+I", 1, 1, 0),
        ("-U", 1, 1, 1),
        ("+U", 1, 2, 1),
    ]
    written = spark.read.parquet(str(warehouse / "shop.b"))
    assert written.schema.simpleString() == (
        "struct<row_kind:string,text:string,day:date,at:timestamp,tags:array<string>,__topic:string,"
        "__partition:int,__offset:bigint,__timestamp:timestamp>"
    )
    (row,) = written.selectExpr("text", "CAST(day AS STRING)", "tags", "unix_seconds(at)", "__partition").collect()
    assert tuple(row) == ("one", "2024-01-02", ["x"], 1_704_164_645, 0)

    # The sink fails when it has written, and the micro-batch comes again
    move = ParquetPipelineSink._move

    def fail(*arguments):
        move(*arguments)
        raise RuntimeError("the sink fails behind its write")

    again = pipeline(warehouse, FIRST, SECOND)
    monkeypatch.setattr(ParquetPipelineSink, "_move", fail)
    with pytest.raises(StreamingQueryException, match="the sink fails behind its write"):
        run(spark, again, checkpoint)
    monkeypatch.undo()
    run(spark, again, checkpoint)

    assert rows(spark, warehouse / "shop.a", "row_kind", "id", "n", "new", "__offset") == [
        ("+I", 1, 1.0, None, 0),
        ("-U", 1, 1.0, None, 1),
        ("+U", 1, 2.0, None, 1),
        ("-D", 1, 2.0, None, 3),
        ("+I", 2, 2.5, True, 4),
    ]

    tables = [Table("shop.a", "id INT"), Table("shop.new", "id INT"), Table("shop.kinds", "row_kind STRING")]
    sink = make_sink(ParquetPipelineSink, path=str(warehouse))
    found = sink.destinations(lambda: spark, [each.planned() for each in tables])
    assert [(each.kind, each.name, each.exists) for each in found] == [
        ("folder", f"{warehouse}/shop.{name}", name == "a") for name in ("a", "new", "kinds")
    ]
    assert [each.table for each in found if each.problem] == ["shop.kinds"]
