"""Targets of pipelines, of all sinks: what happens when somebody else drops their tables and columns, and progress."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from millrace.errors import SchemaError
from millrace_cdc.connectors.delta.sink import DeltaPipelineSink
from millrace_cdc.connectors.iceberg.sink import IcebergPipelineSink
from millrace_cdc.connectors.jdbc.sink import JdbcPipelineSink
from millrace_cdc.connectors.parquet.sink import ParquetPipelineSink
from support.iceberg import add_iceberg
from support.jdbc_drivers import add_drivers
from support.pipeline_sinks import Table, make_sink, micro_batch
from support.postgres import Postgres

ORDERS = Table("shop.orders", "id BIGINT, v STRING", ("id",))
WIDER = Table("shop.orders", "id BIGINT, v STRING, n INT", ("id",))
GONE = r"table 'shop\.orders' should be .*: create it, or, if it has been dropped, start the pipeline with a new"
LACKS = r"the target of table 'shop\.orders' has no column v any more: add it again, or start the pipeline with a new"


class Target(Protocol):
    """A target that others can change."""

    def sink(self) -> Any: ...

    def drop_table(self) -> None: ...

    def drop_column(self) -> None: ...


class Delta:
    def __init__(self, spark: Any, path: Path) -> None:
        self._path = path

    def sink(self) -> Any:
        return make_sink(DeltaPipelineSink, path=str(self._path))

    def drop_table(self) -> None:
        shutil.rmtree(self._path / "shop" / "orders")

    def drop_column(self) -> None:
        write_deltalake(
            self._path / "shop" / "orders", pa.table({"id": [1]}), mode="overwrite", schema_mode="overwrite"
        )


class Parquet:
    def __init__(self, spark: Any, path: Path) -> None:
        self._spark, self._path = spark, path

    def sink(self) -> Any:
        return make_sink(ParquetPipelineSink, path=str(self._path))

    def drop_table(self) -> None:
        shutil.rmtree(self._path / "shop.orders")

    def drop_column(self) -> None:
        folder = self._path / "shop.orders"
        rows = self._spark.read.parquet(str(folder)).drop("v").collect()
        written = self._spark.createDataFrame(rows)
        written.coalesce(1).write.parquet(str(self._path / "other"))
        shutil.rmtree(folder)
        folder.mkdir()
        (file,) = (self._path / "other").glob("*.parquet")
        file.rename(folder / "0-columns-of-others.parquet")


class Sqlite:
    def __init__(self, spark: Any, path: Path) -> None:
        add_drivers(spark)
        self._spark, self._file = spark, path / "shop.db"

    def sink(self) -> Any:
        sink = make_sink(JdbcPipelineSink, url=f"jdbc:sqlite:{self._file}")
        sink.check(self._spark)
        return sink

    def drop_table(self) -> None:
        self._execute("DROP TABLE orders")

    def drop_column(self) -> None:
        self._execute("ALTER TABLE orders DROP COLUMN v")

    def _execute(self, statement: str) -> None:
        with sqlite3.connect(self._file) as connection:
            connection.execute(statement)


class Iceberg:
    def __init__(self, spark: Any, path: Path) -> None:
        add_iceberg(spark)
        session = spark._jsparkSession
        self._iceberg = spark._jvm.org.apache.iceberg
        self._catalog = self._iceberg.hadoop.HadoopCatalog(session.sessionState().newHadoopConf(), str(path))
        self._name = self._iceberg.catalog.TableIdentifier.parse("shop.orders")
        self._path = path

    def sink(self) -> Any:
        given = {"catalog.properties.type": "hadoop", "catalog.properties.warehouse": str(self._path)}
        return make_sink(IcebergPipelineSink, **given)

    def drop_table(self) -> None:
        self._catalog.dropTable(self._name, True)

    def drop_column(self) -> None:
        self._catalog.loadTable(self._name).updateSchema().deleteColumn("v").commit()


class Postgresql:
    def __init__(self, spark: Any, server: Postgres) -> None:
        add_drivers(spark)
        self._spark, self._server = spark, server
        server.execute("DROP SCHEMA IF EXISTS shop CASCADE; DROP TABLE IF EXISTS millrace_pipelines")

    def sink(self) -> Any:
        login = {"username": "tests", "password": self._server.properties["password"]}
        sink = make_sink(JdbcPipelineSink, url=self._server.url, **login)
        sink.check(self._spark)
        return sink

    def drop_table(self) -> None:
        self._server.execute("DROP TABLE shop.orders")

    def drop_column(self) -> None:
        self._server.execute("ALTER TABLE shop.orders DROP COLUMN v")


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    with Postgres() as running:
        yield running


@pytest.fixture(params=[Delta, Parquet, Sqlite, Iceberg, pytest.param(Postgresql, marks=pytest.mark.nightly)])
def target(request, spark, tmp_path) -> Target:
    if request.param is Postgresql:
        return Postgresql(spark, request.getfixturevalue("postgres"))
    return request.param(spark, tmp_path)


def change(spark: Any, number: int, table: Table = ORDERS) -> Any:
    return micro_batch(spark, number, [table], [(table.id, None, {"id": number, "v": "x"})])


@pytest.mark.parametrize("is_restarted", [True, pytest.param(False, marks=pytest.mark.nightly)])
@pytest.mark.parametrize(("drop", "problem"), [("drop_table", GONE), ("drop_column", LACKS)])
def test_a_sink_names_what_was_dropped(spark, target, drop, problem, is_restarted):
    sink = target.sink()
    sink.apply(spark, [ORDERS.change()])
    sink.write(change(spark, 0))
    getattr(target, drop)()
    sink = target.sink() if is_restarted else sink
    with pytest.raises(SchemaError, match=problem) as failure:
        sink.write(change(spark, 1))
    assert failure.value.failed_table == ORDERS.id
    # A later change of the table does not hide it
    sink = target.sink()
    with pytest.raises(SchemaError, match=problem):
        sink.apply(spark, [WIDER.change("add.column", "n")])


def test_a_sink_notes_each_table_that_it_has_written(spark, target):
    log = Table("shop.log", "id BIGINT, v STRING")
    sink, written = target.sink(), []
    sink.apply(spark, [ORDERS.change(), log.change()])
    changes = [(table.id, None, {"id": 1, "v": "x"}) for table in (ORDERS, log)]
    sink.write(micro_batch(spark, 0, [ORDERS, log], changes, on_written=written.append))
    assert set(written) == {ORDERS.id, log.id}
