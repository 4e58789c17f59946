"""Tables of Iceberg that follow their sources through changes of rows and columns, and failures."""

from __future__ import annotations

import logging
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.java_gateway import JavaPackage
from pyspark.errors import StreamingQueryException

from millrace.errors import MachineError
from millrace_cdc import Pipeline
from millrace_cdc.connectors.iceberg import catalog
from millrace_cdc.connectors.iceberg.catalog import IcebergTable
from millrace_cdc.connectors.iceberg.sink import IcebergPipelineSink
from support.iceberg import Warehouse, add_iceberg
from support.pipeline_sinks import Table, make_sink, micro_batch

FIRST = """
+I shop.a {"id": 1, "c": "AT", "n": 1}
+I shop.a {"id": 2, "c": "AT", "n": 1}
+I shop.a {"id": 3, "c": "DE", "n": 1}
-U shop.a {"id": 3, "c": "DE", "n": 1}
+U shop.a {"id": 3, "c": "DE", "n": 2}
+I shop.b {"id": 1, "x": "old"}
+I shop.b {"id": 2, "x": "old"}
+I shop.log {"text": "one"}
+I shop.foreign {"id": 1, "day": "2024-01-02", "n": 1}
+I shop.foreign {"id": 2, "day": "2024-01-03", "n": 1}
"""
# A row that moves to another partition, a deletion, another key, and columns of a later table
SECOND = """
-U shop.a {"id": 1, "c": "AT", "n": 1}
+U shop.a {"id": 1, "c": "DE", "n": 2}
-D shop.a {"id": 2, "c": "AT", "n": 1}
-U shop.b {"id": 1, "x": "old"}
+U shop.b {"id": 7, "x": "moved", "new": "2024-01-02"}
+I shop.log {"text": "two"}
-U shop.foreign {"id": 1, "day": "2024-01-02", "n": 1}
+U shop.foreign {"id": 1, "day": "2024-02-01", "n": 2}
+I shop.c {"id": 1, "d": 1.5}
"""
# A column becomes BIGINT; DOUBLE cannot become STRING, so that the text becomes a number
THIRD = """
+I shop.a {"id": 4, "c": null, "n": 5000000000, "new": 1}
+I shop.c {"id": 2, "d": "2.5"}
+I shop.log {"text": "three"}
"""
FOURTH = """
-D shop.a {"id": 3, "c": "DE", "n": 2}
-D shop.b {"id": 2, "x": "old"}
+I shop.b {"id": 2, "x": "again", "new": null}
+I shop.c {"id": 5, "d": 5}
"""
FILE = """
source:
  type: values
  changes: |
    {changes}
transform:
  - {{source-table: shop.a, projection: 'id, c, CAST(n AS {type}) AS n{more}', primary-keys: id}}
  - {{source-table: shop.b, projection: '*', primary-keys: id}}
  - {{source-table: shop.foreign, projection: '*', primary-keys: id}}
  - {{source-table: shop.c, projection: '*', primary-keys: id, table-options: write.metadata.metrics.default=full}}
sink: {{type: iceberg, {sink}}}
"""


def file(*changes: str, sink: str) -> str:
    lines = [line for each in changes for line in each.strip().splitlines()]
    columns = {"type": "BIGINT", "more": ", new"} if THIRD in changes else {"type": "INT", "more": ""}
    return FILE.format(changes="\n    ".join(lines), sink=sink, **columns)


class Lake:
    """Tables that one pipeline writes, whose sink may fail at a place.

    Args:
        spark: A session with Iceberg's library.
        folder: The folder of the warehouse and the checkpoint.
    """

    def __init__(self, spark: Any, folder: Any) -> None:
        self._spark = spark
        self._checkpoint = str(folder / "checkpoint")
        self._warehouse = Warehouse(spark, str(folder / "warehouse"), "shop")
        # A wider type than the pipeline's, and a column of its own
        columns = {"own": "string", "day": "date", "id": "long", "n": "double"}
        self._warehouse.create("foreign", columns, month="day")

    def run(self, file: str, *, fails: str | None = None, truncated: str | None = None) -> dict[str, Any]:
        """Run the pipeline to its end; return its error, the warnings and the tables."""
        warnings: list[str] = []
        handler = logging.Handler()
        handler.emit = lambda record: warnings.append(record.getMessage())
        logger = logging.getLogger("millrace.pipelines")
        logger.addHandler(handler)
        with pytest.MonkeyPatch.context() as patches:
            patch(patches, fails, truncated)
            try:
                running = Pipeline.from_yaml(file).run(self._spark, checkpoint_location=self._checkpoint, once=True)
                running.await_termination()
                error = None
            except StreamingQueryException as failure:
                error = str(failure)
            finally:
                logger.removeHandler(handler)
        return {"error": error, "warnings": warnings, "tables": self._warehouse.tables()}


def patch(patches: pytest.MonkeyPatch, fails: str | None, truncated: str | None) -> None:
    """Let the sink fail at a place; and empty a table, as TRUNCATE does."""
    real_commit, real_write, first_is_committed = IcebergTable.commit, IcebergPipelineSink.write, threading.Event()

    def commit(table: Any, *arguments: Any, **named: Any) -> Any:
        if fails == "one table is committed" and table._id != "shop.a":
            first_is_committed.wait()
            raise RuntimeError(fails)
        committed = real_commit(table, *arguments, **named)
        first_is_committed.set()
        return committed

    def write(sink: Any, batch: Any) -> None:
        batch.truncated = frozenset({truncated} - {None})
        real_write(sink, batch)
        if fails == "all tables are committed":
            raise RuntimeError(fails)

    patches.setattr(IcebergTable, "commit", commit)
    patches.setattr(IcebergPipelineSink, "write", write)


@pytest.fixture(scope="module")
def runs(spark, tmp_path_factory) -> dict[str, Any]:
    """Run a pipeline that fails at each place."""
    add_iceberg(spark)
    folder = tmp_path_factory.mktemp("iceberg")
    options = f"catalog.properties.type: hadoop, catalog.properties.warehouse: {folder}/warehouse, "
    options += "partition.key: shop.a:c, sink.delete-files.warning: 1, sink.small-files.warning: 3"
    settings = {"spark.sql.catalog.lake.type": "hadoop", "spark.sql.catalog.lake.warehouse": f"{folder}/warehouse"}
    sink = "catalog: lake, sink.small-files.warning: 3"
    first, second = file(FIRST, sink=options), file(FIRST, SECOND, sink=options)
    third, fourth = file(FIRST, SECOND, THIRD, sink=sink), file(FIRST, SECOND, THIRD, FOURTH, sink=sink)
    lake = Lake(spark, folder)
    # Settings of the application, which all of its sessions have
    application = spark.sparkContext._conf
    for name, value in settings.items():
        application.set(name, value)
    try:
        return {
            "folder": folder,
            "first": lake.run(first),
            "second fails": lake.run(second, fails="one table is committed"),
            "second": lake.run(second),
            "third": lake.run(third),
            "fourth fails": lake.run(fourth, fails="all tables are committed", truncated="shop.c"),
            "fourth": lake.run(fourth, truncated="shop.c"),
        }
    finally:
        for name in settings:
            application._jconf.remove(name)


def rows(runs, name) -> dict[str, list[str]]:
    return {table: found["rows"] for table, found in runs[name]["tables"].items() if table != "foreign"}


@pytest.mark.nightly
def test_a_first_micro_batch_creates_tables_and_has_no_delete_files(runs):
    assert runs["first"]["error"] is None
    assert rows(runs, "first") == {
        "a": ["(1, AT, 1)", "(2, AT, 1)", "(3, DE, 2)"],
        "b": ["(1, old)", "(2, old)"],
        "log": ["(one)"],
    }
    tables = runs["first"]["tables"]
    assert [table["delete_files"] for table in tables.values()] == [0, 0, 0, 0]
    assert tables["a"]["partition"] == ["identity"]
    assert not runs["first"]["warnings"]


@pytest.mark.nightly
def test_a_failure_between_the_commits_of_two_tables_leaves_no_row_twice_and_none_lost(runs):
    assert "one table is committed" in runs["second fails"]["error"]
    assert rows(runs, "second fails")["a"] == ["(1, DE, 2)", "(3, DE, 2)"]
    assert rows(runs, "second fails")["log"] == ["(one)"]
    assert runs["second"]["error"] is None
    assert rows(runs, "second") == {
        "a": ["(1, DE, 2)", "(3, DE, 2)"],
        "b": ["(2, old, null)", "(7, moved, 2024-01-02)"],
        "c": ["(1, 1.5)"],
        "log": ["(one)", "(two)"],
    }
    snapshots = {name: table["snapshots"] for name, table in runs["second"]["tables"].items()}
    assert snapshots == {"a": 2, "b": 2, "c": 1, "foreign": 2, "log": 2}


@pytest.mark.nightly
def test_a_table_of_others_keeps_its_columns_types_and_partitions(runs):
    before, after = (runs[name]["tables"]["foreign"] for name in ("first", "second"))
    assert before["rows"] == ["(null, 2024-01-02, 1, 1.0)", "(null, 2024-01-03, 2, 1.0)"]
    # The row has moved to another partition
    assert after["rows"] == ["(null, 2024-01-03, 2, 1.0)", "(null, 2024-02-01, 1, 2.0)"]
    assert (after["partition"], after["columns"]["n"]) == (["month"], "double")


@pytest.mark.nightly
def test_types_become_wider_where_iceberg_can_and_other_values_are_converted(runs):
    assert runs["third"]["error"] is None
    before, after = (runs[name]["tables"]["a"]["columns"] for name in ("second", "third"))
    assert before == {"id": "long", "c": "string", "n": "int"}
    assert after == {"id": "long", "c": "string", "n": "long", "new": "long"}
    assert runs["third"]["tables"]["c"]["columns"] == {"id": "long", "d": "double"}
    assert rows(runs, "third") == {
        "a": ["(1, DE, 2, null)", "(3, DE, 2, null)", "(4, null, 5000000000, 1)"],
        "b": ["(2, old, null)", "(7, moved, 2024-01-02)"],
        "c": ["(1, 1.5)", "(2, 2.5)"],
        "log": ["(one)", "(three)", "(two)"],
    }


@pytest.mark.nightly
def test_a_micro_batch_that_was_committed_is_not_applied_again(runs):
    assert "all tables are committed" in runs["fourth fails"]["error"]
    assert runs["fourth"]["error"] is None
    assert runs["fourth"]["tables"] == runs["fourth fails"]["tables"]
    assert rows(runs, "fourth")["a"] == ["(1, DE, 2, null)", "(4, null, 5000000000, 1)"]
    assert rows(runs, "fourth")["b"] == ["(2, again, null)", "(7, moved, 2024-01-02)"]
    assert runs["fourth"]["tables"]["b"]["snapshots"] == 3


@pytest.mark.nightly
def test_a_truncated_table_has_the_rows_behind_it(runs):
    assert rows(runs, "fourth")["c"] == ["(5, 5.0)"]


@pytest.mark.nightly
def test_the_log_recommends_to_compact_a_table_with_many_files(runs):
    assert any("table 'shop.b' has 1 delete files" in each for each in runs["second"]["warnings"])
    hint = "table 'shop.log' has 3 small files, each of which readers open: compact it, by CALL system.rewrite_data"
    assert any(hint in each for each in runs["third"]["warnings"])
    assert not any("'shop.log'" in each for each in runs["second"]["warnings"])


@pytest.mark.nightly
def test_a_plan_finds_tables_that_are_there(runs, spark):
    folder = runs["folder"]
    given = {"catalog.properties.type": "hadoop", "catalog.properties.warehouse": f"{folder}/warehouse"}
    sink = make_sink(IcebergPipelineSink, **given, **{"partition.key": "shop.new:day(n)"})
    tables = [
        Table("shop.a", "id BIGINT", ("id",)),
        Table("shop.later", "id BIGINT"),
        Table("shop.new", "n BIGINT"),
        Table("alone", "id BIGINT"),
    ]
    found = sink.destinations(lambda: spark, [each.planned() for each in tables])
    assert [(each.name, each.exists) for each in found] == [
        ("shop.a", True),
        ("shop.later", False),
        ("shop.new", False),
        ("default.alone", False),
    ]
    assert [each.table for each in found if each.problem] == ["shop.new"]
    assert Warehouse(spark, f"{folder}/warehouse", "shop").tables().keys() == runs["fourth"]["tables"].keys()


def test_a_session_without_icebergs_library_is_told_what_to_add(spark, tmp_path, monkeypatch):
    # As Py4J has a name that no jar defines
    empty = SimpleNamespace(CatalogUtil=JavaPackage("org.apache.iceberg.CatalogUtil", None))
    jvm = SimpleNamespace(org=SimpleNamespace(apache=SimpleNamespace(iceberg=empty)))
    monkeypatch.setattr(catalog, "session_jvm", lambda *_: jvm)
    pipeline = Pipeline.from_yaml(file(FIRST, sink="catalog.properties.type: hadoop"))
    with pytest.raises(MachineError, match=r"--conf spark\.jars\.packages=org\.apache\.iceberg:iceberg-spark"):
        pipeline.run(spark, checkpoint_location=str(tmp_path), once=True)


@pytest.mark.nightly
def test_a_table_keeps_the_values_that_updates_lack(spark, tmp_path):
    add_iceberg(spark)
    properties = {"catalog.properties.type": "hadoop", "catalog.properties.warehouse": str(tmp_path)}
    sink = make_sink(IcebergPipelineSink, **properties)
    table = Table("shop.t", "id BIGINT, day DATE, n INT, texts ARRAY<STRING>, d DECIMAL(20, 2)", ("id", "day"))
    sink.apply(spark, [table.change()])
    first = {"id": 1, "day": "2024-02-29", "n": 1, "texts": ["a", None], "d": 1.25}
    inserted = [("shop.t", None, first | {"id": id_}) for id_ in (1, 2, 3)]
    sink.write(micro_batch(spark, 0, [table], inserted))
    lacks = {"texts": None, "d": None, "n": 2}
    changed = [
        ("shop.t", None, first | lacks | {"id": id_}, {"operation": "u", "kept": ["texts", "d"]}) for id_ in (1, 3, 4)
    ]
    sink.write(micro_batch(spark, 1, [table], [*changed, ("shop.t", first | {"id": 2}, None)], tasks=2))
    found = Warehouse(spark, str(tmp_path), "shop").tables()["t"]["rows"]
    assert found == [
        "(1, 2024-02-29, 2, [a, null], 1.25)",
        "(3, 2024-02-29, 2, [a, null], 1.25)",
        "(4, 2024-02-29, 2, null, null)",
    ]
