"""Names of columns and tables that differ only in case: refused where a target takes them for the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from millrace.errors import SchemaError
from millrace_catalog.inference import DebeziumInferenceOptions
from millrace_cdc.connectors.delta.sink import DeltaPipelineSink
from millrace_cdc.connectors.iceberg.schema import iceberg_schema
from millrace_cdc.connectors.jdbc.sink import JdbcPipelineSink
from millrace_cdc.connectors.parquet.sink import ParquetPipelineSink
from millrace_cdc.runtime.change_parser import ChangeParser
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.task_reports import Place
from support.pipeline_sinks import Table, make_sink

ORDERS = Table("shop.orders", "id BIGINT, n INT, N INT", ("id",))


def iceberg(path: Path) -> None:
    iceberg_schema(ORDERS.planned())


def delta(path: Path) -> None:
    make_sink(DeltaPipelineSink, path=str(path)).apply(None, [ORDERS.change()])


def parquet(path: Path) -> None:
    make_sink(ParquetPipelineSink, path=str(path)).apply(None, [ORDERS.change()])


def jdbc(path: Path) -> None:
    sink = make_sink(JdbcPipelineSink, url="jdbc:sqlite:/shop.db")
    problem = sink._destination(None, ORDERS.planned()).problem
    raise SchemaError(problem)


@pytest.mark.parametrize("create", [iceberg, delta, parquet, jdbc])
def test_columns_are_refused(create: Callable[[Path], None], tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match=r"table 'shop\.orders' would have the columns n and N, which differ only in"):
        create(tmp_path)


def test_tables_are_two_for_a_pipeline_and_refused_where_names_are_compared_without_case() -> None:
    parser = ChangeParser(ParserSettings("debezium-json", DebeziumInferenceOptions()), {})
    for number, name in enumerate(("orders", "Orders")):
        source = {"db": "shop", "table": name}
        value = json.dumps({"before": None, "after": {"id": 1}, "op": "c", "source": source}).encode()
        parser.changes(Place("t", 0, number), value)
    assert set(parser.report.tables) == {"shop.orders", "shop.Orders"}
    jdbc_sink = make_sink(JdbcPipelineSink, url="jdbc:postgresql://h/d")
    jdbc_sink._table("shop.orders")
    with pytest.raises(SchemaError, match=r"tables 'shop\.orders' and 'shop\.Orders' would both be shop\.Orders"):
        jdbc_sink._table("shop.Orders")
    delta_sink = make_sink(DeltaPipelineSink, path="/lake")
    assert [delta_sink._table(name).uri for name in ("shop.orders", "shop.Orders")] == [
        "/lake/shop/orders",
        "/lake/shop/Orders",
    ]
