"""Folders of parquet files as a sink: options, and rows with kinds."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
import pytest

from millrace.contracts import PipelineTable
from millrace.errors import SchemaError
from millrace.testing import PipelineSinkSuite
from millrace_catalog.types import parse_schema
from millrace_catalog.types.spark import to_spark_schema
from millrace_cdc.connectors.parquet.file_writer import ParquetTarget, rows_with_kinds
from millrace_cdc.connectors.parquet.options import ParquetSinkOptions
from millrace_cdc.connectors.parquet.sink import ParquetPipelineSink
from support.pipeline_sinks import make_sink


class TestParquetPipelineSink(PipelineSinkSuite):
    def make_plugin(self):
        return ParquetPipelineSink(ParquetSinkOptions(path="/warehouse"))


def test_changes_become_rows_with_kinds_in_their_order():
    moment = datetime(2024, 1, 2, tzinfo=UTC)
    changes = pa.table(
        {
            "operation": ["c", "u", "u", "d"],
            "before": pa.array([None, b'{"id":1,"v":{"a":1.5}}', None, b'{"id":2}'], pa.binary()),
            "after": pa.array([b'{"id":1,"v":{"a":1.5}}', b'{"id":2,"v":"x"}', b'{"id":3,"v":1}', None], pa.binary()),
            "topic": ["t"] * 4,
            "partition": pa.array([0] * 4, pa.int32()),
            "offset": pa.array([5, 6, 7, 8], pa.int64()),
            "timestamp": pa.array([moment] * 4, pa.timestamp("us", "UTC")),
        }
    )
    columns = pa.schema(
        {
            "op": pa.string(),
            "id": pa.int64(),
            "at_topic": pa.string(),
            "at_partition": pa.int32(),
            "at_offset": pa.int64(),
            "at_timestamp": pa.timestamp("us", "UTC"),
            # A VARIANT is JSON
            "v": pa.string(),
        }.items()
    )
    found = rows_with_kinds(changes, ParquetTarget("/new", columns, "op", "at_", ()))
    assert found.schema == columns
    assert found.select(["op", "id", "v", "at_offset"]).to_pylist() == [
        {"op": "+I", "id": 1, "v": '{"a":1.5}', "at_offset": 5},
        {"op": "-U", "id": 1, "v": '{"a":1.5}', "at_offset": 6},
        {"op": "+U", "id": 2, "v": "x", "at_offset": 6},
        {"op": "+U", "id": 3, "v": "1", "at_offset": 7},
        {"op": "-D", "id": 2, "v": None, "at_offset": 8},
    ]
    assert found.column("at_timestamp").to_pylist() == [moment] * 5


def test_an_update_without_its_old_row_is_refused_unless_an_option_lets_it_be_written():
    refusing, writing = (
        make_sink(ParquetPipelineSink, path="/warehouse", **given).capabilities
        for given in ({}, {"sink.updates-without-old-row": "write"})
    )
    assert (refusing.upserts, writing.upserts, writing.keeps_values) == (False, True, False)
    assert "set 'sink.updates-without-old-row' of the sink to write" in refusing.upsert_advice


def test_partition_keys_are_refused():
    sink = ParquetPipelineSink(ParquetSinkOptions(path="/warehouse"))
    table = PipelineTable("db.t", to_spark_schema(parse_schema("id INT")), partition_keys=("id",))
    with pytest.raises(SchemaError, match=r"table 'db\.t' has partition keys id, and its files have no partitions"):
        sink._prepare(None, table, None)


@pytest.mark.parametrize(
    ("column", "options"),
    [("row_kind", {}), ("__offset", {}), ("id", {"row_kind_column": "id"}), ("a_topic", {"position_prefix": "a_"})],
)
def test_columns_that_the_sink_adds_must_be_free(column, options):
    sink = ParquetPipelineSink(ParquetSinkOptions(path="/warehouse", **options))
    with pytest.raises(SchemaError, match=f"table 'db.t' has a column '{column}' of its own: set 'row-kind-column'"):
        sink._prepare(None, PipelineTable("db.t", to_spark_schema(parse_schema(f"{column} INT"))), None)
