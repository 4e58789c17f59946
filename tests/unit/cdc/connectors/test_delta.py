"""The options of Delta Lake as a sink of pipelines."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from millrace.contracts import PipelineTable
from millrace.errors import MachineError
from millrace.testing import PipelineSinkSuite
from millrace_catalog.types import parse_schema
from millrace_catalog.types.spark import to_spark_schema
from millrace_cdc.connectors.delta import sink as module
from millrace_cdc.connectors.delta.rows import DELETED
from millrace_cdc.connectors.delta.sink import DeltaPipelineSink
from millrace_cdc.connectors.delta.tables import DeltaSinkTable
from support.pipeline_sinks import make_sink


class TestDeltaSink(PipelineSinkSuite):
    def make_plugin(self):
        return make_sink(DeltaPipelineSink, path="/lake", **{"storage.aws_access_key_id": "k"})


def test_secrets_of_the_storage_are_in_no_repr():
    sink = make_sink(DeltaPipelineSink, path="/lake", **{"storage.aws_secret_access_key": "hunter2"})
    assert dict(sink.options.storage) == {"aws_secret_access_key": "hunter2"}
    assert "hunter2" not in repr(sink.options)


def test_a_missing_package_is_named_before_the_start(monkeypatch):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(MachineError, match=r"pip install 'millrace-cdc\[delta\]'"):
        make_sink(DeltaPipelineSink, path="/lake").check(None)


@pytest.mark.parametrize(("key", "truncate"), [((), False), (("id",), False), ((), True)])
def test_a_table_may_have_more_and_wider_columns_than_rows(tmp_path, key, truncate):
    target = DeltaSinkTable("shop.orders", str(tmp_path / "orders"), {})
    no_spark: Any = None
    wide = parse_schema("id BIGINT, more ARRAY<STRING>, n STRING, price DOUBLE")
    target.fit(no_spark, PipelineTable("shop.orders", to_spark_schema(wide), key), may_create=True)
    narrow = PipelineTable("shop.orders", to_spark_schema(parse_schema("id BIGINT, price BIGINT, n BIGINT")), key)
    columns = [pa.array([1], pa.int64()), pa.array([5], pa.int64()), pa.array([6], pa.int64()), pa.array([False])]
    rows = pa.table(columns, ["id", "price", "n", DELETED])
    target.write(narrow, rows, "pipeline", 0, truncate=truncate)
    stored = DeltaTable(target.uri).to_pyarrow_table().to_pylist()
    assert stored == [{"id": 1, "more": None, "n": "6", "price": 5.0}]
