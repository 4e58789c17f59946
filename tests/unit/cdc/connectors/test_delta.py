"""The options and the rows of Delta Lake as a sink of pipelines."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
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
from millrace_cdc.connectors.delta.rows import DELETED, RowEncoder, read_rows_of, together
from millrace_cdc.connectors.delta.sink import DeltaPipelineSink
from millrace_cdc.connectors.delta.tables import DeltaSinkTable, arrow_schema, columns_of
from millrace_cdc.connectors.table_changes.changed_keys import key_schema
from millrace_cdc.connectors.table_changes.row_images import ChangeError
from support.pipeline_sinks import make_sink
from support.table_changes import changes_at


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


COLUMNS = "id BIGINT, s STRING, n DECIMAL(38, 18), b BYTES, d DATE, t TIMESTAMP(6), z TIMESTAMP_LTZ(6), f FLOAT"
COLUMNS += ", l ARRAY<DATE>, m MAP<STRING, BYTES>, r ROW<x TIMESTAMP_LTZ(6), y DECIMAL(3, 1)>"
ROW = {
    "id": 1,
    "s": "a",
    "n": Decimal("12345678901234567890.123456789012345678"),
    "b": "aGk=",
    "d": "2024-02-29",
    "t": "2024-05-06 07:08:09.123456",
    "z": "2024-05-06 07:08:09+02:00",
    "f": 1.5,
    "l": ["2024-02-29", None],
    "m": {"k": "aGk="},
    "r": {"x": "2024-05-06 07:08:09Z", "y": Decimal("1.5")},
}


def written(*changes):
    schema = arrow_schema(parse_schema(COLUMNS))
    encode = RowEncoder({"t": schema}, {"t": pa.schema([schema.field("id")])})
    (chunk,) = encode("t", 0, changes_at(*changes))
    return read_rows_of(chunk.column("rows")[0].as_py())


def test_rows_are_columns_and_deleted_ones_have_their_keys_only():
    deleted, inserted = written(("c", None, ROW), ("d", {"id": 2}, None)).to_pylist()
    assert deleted == dict.fromkeys(ROW) | {"id": 2, DELETED: True}
    moment = datetime(2024, 5, 6, 7, 8, 9)
    assert inserted == {
        "id": 1,
        "s": "a",
        "n": ROW["n"],
        "b": b"hi",
        "d": date(2024, 2, 29),
        "t": moment.replace(microsecond=123456),
        "z": moment.replace(hour=5, tzinfo=UTC),
        "f": 1.5,
        "l": [date(2024, 2, 29), None],
        "m": [("k", b"hi")],
        "r": {"x": moment.replace(tzinfo=UTC), "y": Decimal("1.5")},
        DELETED: False,
    }


def test_a_value_that_its_column_cannot_hold_is_refused_with_its_message():
    with pytest.raises(ChangeError, match="offset 1 does not fit it: column 'd': 'someday' is no date32"):
        written(("c", None, ROW), ("c", None, ROW | {"id": 2, "d": "someday"}))


@pytest.mark.parametrize(("key", "truncate"), [((), False), (("id",), False), ((), True)])
def test_a_table_may_have_more_and_wider_columns_than_rows(tmp_path, key, truncate):
    target = DeltaSinkTable("shop.orders", str(tmp_path / "orders"), {})
    no_spark: Any = None
    wide = parse_schema("id BIGINT, more ARRAY<STRING>, n STRING, price DOUBLE")
    target.fit(no_spark, PipelineTable("shop.orders", to_spark_schema(wide), key), added=None)
    narrow = PipelineTable("shop.orders", to_spark_schema(parse_schema("id BIGINT, price BIGINT, n BIGINT")), key)
    columns = [pa.array([1], pa.int64()), pa.array([5], pa.int64()), pa.array([6], pa.int64()), pa.array([False])]
    rows = pa.table(columns, ["id", "price", "n", DELETED])
    target.write(narrow, rows, "pipeline", 0, truncate=truncate)
    stored = DeltaTable(target.uri).to_pyarrow_table().to_pylist()
    assert stored == [{"id": 1, "more": None, "n": "6", "price": 5.0}]


def test_updated_rows_say_which_values_the_table_keeps_and_a_merge_keeps_them(tmp_path):
    table = PipelineTable("t", to_spark_schema(parse_schema("id BIGINT, a STRING, l ARRAY<STRING>")), ("id",))
    target = DeltaSinkTable("t", str(tmp_path / "t"), {})
    target.fit(None, table, added=None)
    encode = RowEncoder({"t": arrow_schema(columns_of(table))}, {"t": key_schema(table)})

    def write(batch: int, *changes):
        chunks = encode("t", 0, changes_at(*changes))
        found = together([read_rows_of(chunk.column("rows")[0].as_py()) for chunk in chunks])
        target.write(table, found, "p", batch, truncate=False)

    rows = [{"id": 1, "a": "x", "l": ["y"]}, {"id": 2, "a": "x", "l": None}, {"id": 3, "a": "gone", "l": []}]
    write(0, *(("c", None, row) for row in rows))
    write(
        1,
        ("u", None, {"id": 1, "a": "new", "l": None}, {"kept": ["l"]}),
        ("u", None, {"id": 2, "a": None, "l": ["new"]}, {"kept": ["a"]}),
        ("u", None, {"id": 4, "a": "b", "l": None}, {"kept": ["l"]}),
        ("d", {"id": 3}, None),
        ("c", None, {"id": 5, "a": "c", "l": []}),
    )
    found = sorted(DeltaTable(target.uri).to_pyarrow_table().to_pylist(), key=lambda row: row["id"])
    assert found == [
        {"id": 1, "a": "new", "l": ["y"]},
        {"id": 2, "a": "x", "l": ["new"]},
        {"id": 4, "a": "b", "l": None},
        {"id": 5, "a": "c", "l": []},
    ]
