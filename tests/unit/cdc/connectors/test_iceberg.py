"""Iceberg as a sink: options, schemas, partitions, metrics and files; its library is in an integration test."""

from __future__ import annotations

import contextlib
import io
import json
import struct
import threading
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import types as sql

from millrace.contracts import PipelineTable
from millrace.errors import OptionsError, SchemaError
from millrace.options.parser import OptionParser
from millrace.testing import PipelineSinkSuite
from millrace_catalog.types import parse_schema
from millrace_catalog.types.spark import to_spark_schema
from millrace_cdc.connectors.iceberg.catalog import IcebergCatalog
from millrace_cdc.connectors.iceberg.file_writer import IcebergFileWriter, IcebergTarget
from millrace_cdc.connectors.iceberg.metrics import metrics
from millrace_cdc.connectors.iceberg.options import parse_partition_keys
from millrace_cdc.connectors.iceberg.partitioning import PartitionField, check_transform, partitions
from millrace_cdc.connectors.iceberg.schema import arrow_schema, iceberg_schema, widened
from millrace_cdc.connectors.iceberg.sink import IcebergPipelineSink
from millrace_cdc.connectors.loading import make_sink
from millrace_cdc.connectors.table_changes.row_images import ChangeError
from millrace_cdc.connectors.table_files.concurrency import each_table
from millrace_cdc.definitions.model import SinkDefinition
from support.table_changes import changes_at

HADOOP = {"catalog.properties.type": "hadoop", "catalog.properties.warehouse": "/warehouse"}


def sink(**options) -> IcebergPipelineSink:
    parser = OptionParser("sink", options)
    parsed = parser.take(IcebergPipelineSink.Options)
    parser.finish()
    return IcebergPipelineSink(parsed)


class TestIcebergPipelineSink(PipelineSinkSuite):
    def make_plugin(self):
        return sink(**HADOOP)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({}, "either 'catalog', the name of a catalog in Spark's settings, or 'catalog.properties.*' is needed"),
        ({"catalog": "lake", **HADOOP}, "either 'catalog'"),
        (
            {"catalog.properties.uri": "x"},
            "'catalog.properties.type' .* or 'catalog.properties.catalog-impl' is needed",
        ),
        ({**HADOOP, "partition.key": "shop.a"}, "expected tables and their partition keys"),
        ({**HADOOP, "partition.key": "a:b;a:c"}, "table 'a' is named twice"),
        ({**HADOOP, "partition.key": "a:bucket[4](b)"}, "partition key 'bucket.* is not supported: give a column"),
        ({**HADOOP, "partition.key": "a:day(b"}, "'day.b' is no partition key"),
    ],
)
def test_wrong_options(options, problem):
    with pytest.raises(OptionsError, match=problem):
        make_sink(SinkDefinition("iceberg", options))


def test_partition_keys_of_tables():
    assert parse_partition_keys("shop.a: c ,day(at) ; shop.b:truncate[10](x);") == (
        ("shop.a", (PartitionField("c"), PartitionField("at", "day"))),
        ("shop.b", (PartitionField("x", "truncate[10]"),)),
    )


def table(columns: str, *key: str) -> PipelineTable:
    return PipelineTable("db.t", to_spark_schema(parse_schema(columns)), key)


def test_columns_are_icebergs_and_the_key_identifies_rows():
    found = iceberg_schema(
        table("id INT, price DECIMAL(10, 2), tags ARRAY<ROW<a TIME, b VARIANT>>, m MAP<STRING, BYTES>", "id")
    )
    assert found["identifier-field-ids"] == [1]
    assert [(each["name"], each["required"]) for each in found["fields"]][:2] == [("id", True), ("price", False)]
    assert [each["type"] for each in found["fields"][:2]] == ["int", "decimal(10, 2)"]
    fields = arrow_schema(found)
    assert fields.field("tags").type.value_type.field("a").type == pa.time64("us")
    assert fields.field("tags").type.value_type.field("b").type == pa.string()
    assert fields.field("m").type == pa.map_(pa.string(), pa.binary())
    ids = [int(fields.field(name).metadata[b"PARQUET:field_id"]) for name in fields.names]
    inner = fields.field("tags").type.value_field
    assert len({*ids, int(inner.metadata[b"PARQUET:field_id"])}) == 5
    # Readers could not rely on it
    assert "identifier-field-ids" not in iceberg_schema(table("x DOUBLE", "x"))


def test_types_that_iceberg_has_not_are_refused():
    schema = sql.StructType([sql.StructField("x", sql.DayTimeIntervalType())])
    with pytest.raises(SchemaError, match="Iceberg has no type for interval"):
        iceberg_schema(PipelineTable("t", schema))
    fields = [{"id": 1, "name": "u", "required": False, "type": "uuid"}]
    with pytest.raises(SchemaError, match="column 'u' has Iceberg's type uuid"):
        arrow_schema({"fields": fields})


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("INT", "BIGINT", True),
        ("SMALLINT", "INT", True),
        ("FLOAT", "DOUBLE", True),
        ("DECIMAL(10, 2)", "DECIMAL(12, 2)", True),
        ("DECIMAL(10, 2)", "DECIMAL(12, 3)", False),
        ("BIGINT", "DOUBLE", False),
        ("BIGINT", "STRING", False),
        ("DATE", "TIMESTAMP", False),
        ("VARIANT", "STRING", True),
        ("ROW<a INT>", "ROW<a BIGINT, b STRING>", True),
        ("ROW<a INT>", "ROW<a STRING>", False),
        ("ROW<a INT>", "STRING", False),
        ("ARRAY<INT>", "ARRAY<BIGINT>", True),
        ("MAP<STRING, INT>", "MAP<STRING, BIGINT>", True),
        ("MAP<INT, INT>", "MAP<BIGINT, INT>", False),
    ],
)
def test_types_become_wider_as_icebergs_specification_allows(before, after, expected):
    old, new = (to_spark_schema(parse_schema(f"x {each}")).fields[0].dataType for each in (before, after))
    assert sink(**HADOOP).can_widen(old, new) is expected


def test_a_table_keeps_types_that_are_wider_than_those_of_the_pipeline_or_others():
    existing = iceberg_schema(table("id INT, n DOUBLE, text STRING, other INT", "id"))
    wanted = iceberg_schema(table("id BIGINT, n BIGINT, text INT, new DATE", "id"))
    fields = [(each["name"], each["type"], each["required"]) for each in widened(existing, wanted)["fields"]]
    assert fields == [("id", "long", True), ("n", "double", False), ("text", "string", False), ("new", "date", False)]


class SlowNamespaces:
    """A catalog that lets another thread ask before it answers."""

    def __init__(self):
        self.names = []
        self._barrier = threading.Barrier(2)

    def namespaceExists(self, name):  # noqa: N802
        exists = name in self.names
        with contextlib.suppress(threading.BrokenBarrierError):
            self._barrier.wait(0.2)
        return exists

    def createNamespace(self, name):  # noqa: N802
        assert name not in self.names
        self.names.append(name)


def test_threads_create_a_namespace_once():
    catalog = object.__new__(IcebergCatalog)
    catalog._creating, catalog._catalog = threading.Lock(), SlowNamespaces()
    each_table(catalog._create_namespace, ["shop", "shop"], 2)
    assert catalog._catalog.names == ["shop"]


def with_ids(**columns) -> pa.Table:
    fields = [
        pa.field(name, column.type, metadata={b"PARQUET:field_id": str(number).encode()})
        for number, (name, column) in enumerate(columns.items(), start=1)
    ]
    return pa.Table.from_arrays(list(columns.values()), schema=pa.schema(fields))


def bounds(column) -> tuple[bytes | None, bytes | None]:
    found = metrics(with_ids(x=column))
    return tuple(
        bytes.fromhex(found[name]["values"][0]) if found[name]["values"] else None
        for name in ("lower-bounds", "upper-bounds")
    )


@pytest.mark.parametrize(
    ("column", "low", "high"),
    [
        (pa.array([1, -2, None], pa.int32()), struct.pack("<i", -2), struct.pack("<i", 1)),
        (pa.array([1, 2**40], pa.int64()), struct.pack("<q", 1), struct.pack("<q", 2**40)),
        (pa.array([1.5, float("nan")]), struct.pack("<d", 1.5), struct.pack("<d", 1.5)),
        (pa.array([True, False]), b"\x00", b"\x01"),
        (pa.array([date(1969, 12, 31)]), struct.pack("<i", -1), struct.pack("<i", -1)),
        (pa.array([datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)]), struct.pack("<q", 10**6), struct.pack("<q", 10**6)),
        (pa.array([Decimal("-1.28"), Decimal("1.28")]), b"\x80", b"\x00\x80"),
        (pa.array([Decimal(f"1{1:037}")], pa.decimal128(38, 0)), *[(10**37 + 1).to_bytes(16, "big")] * 2),
        (pa.array(["b", "a"]), b"a", b"b"),
        (pa.array(["x" * 20]), b"x" * 16, b"x" * 15 + b"y"),
        (pa.array(["\U0010ffff" * 20]), ("\U0010ffff" * 16).encode(), None),
        (pa.array(["a" * 15 + "\ud7ff" + "b"]), ("a" * 15 + "\ud7ff").encode(), ("a" * 15 + "\ue000").encode()),
        (pa.array([None], pa.int32()), None, None),
        (pa.array([b"x"]), None, None),
    ],
)
def test_bounds_of_columns(column, low, high):
    assert bounds(column) == (low, high)


def test_counts_of_columns():
    found = metrics(with_ids(x=pa.array([1, None]), y=pa.array([[1], []])))
    assert found["value-counts"] == {"keys": [1], "values": [2]}
    assert found["null-value-counts"] == {"keys": [1], "values": [1]}


MOMENTS = pa.array([datetime(1969, 12, 31, 23, 30), datetime(2024, 2, 29, 1)], pa.timestamp("us"))


@pytest.mark.parametrize(
    ("transform", "column", "values"),
    [
        ("identity", pa.array(["a", None]), ["a", None]),
        ("identity", pa.array([date(2024, 1, 2), date(2024, 1, 3)]), ["2024-01-02", "2024-01-03"]),
        ("identity", pa.array([Decimal("1.50"), Decimal("2.00")]), ["1.50", "2.00"]),
        ("year", MOMENTS, [-1, 54]),
        ("month", MOMENTS, [-1, 54 * 12 + 1]),
        ("day", MOMENTS, ["1969-12-31", "2024-02-29"]),
        ("hour", MOMENTS, [-1, 474_769]),
        ("day", MOMENTS.cast(pa.timestamp("us", "UTC")), ["1969-12-31", "2024-02-29"]),
        ("day", pa.array([date(2024, 1, 2), None]), ["2024-01-02", None]),
        ("truncate[10]", pa.array([-1, 19], pa.int32()), [-10, 10]),
        ("truncate[2]", pa.array(["abc", "\u00e4"]), ["ab", "\u00e4"]),
    ],
)
def test_rows_are_divided_by_transforms(transform, column, values):
    check_transform(transform, column.type, "x")
    found = {
        each.rows.to_pylist()[0]: each.values
        for each in partitions(pa.table({"x": column}), [PartitionField("x", transform)])
    }
    assert found == {0: (values[0],), 1: (values[1],)}


def test_a_transform_that_is_not_for_a_type_is_refused():
    for transform, type_ in [
        ("hour", pa.date32()),
        ("day", pa.string()),
        ("bucket[4]", pa.int32()),
        ("identity", pa.binary()),
    ]:
        with pytest.raises(SchemaError, match=r"partition key .*\(x\) of type .* is not written by pipelines"):
            check_transform(transform, type_, "x")


def target(folder, *key, columns="id BIGINT, c STRING, n INT", partition=(), is_empty=False) -> IcebergTarget:
    schema = json.dumps(iceberg_schema(table(columns, *key)))
    return IcebergTarget(schema, key, f"{folder}/data", (), 1, partition, 0, is_empty)


def write(target, rows, known: pa.Table | None = None) -> dict[str, list[tuple]]:
    kept = io.BytesIO()
    if known is not None:
        pq.write_table(known, kept)
    writer = IcebergFileWriter({"db.t": target}, "run-0", {} if known is None else {"db.t": kept.getvalue()})
    entries = json.loads(writer("db.t", 0, rows))
    found: dict[str, list[tuple]] = {"DATA": [], "EQUALITY_DELETES": []}
    for each in entries:
        content = pq.read_table(each["file-path"])
        assert each["record-count"] == content.num_rows
        assert "/run-0-00000-" in each["file-path"]
        found[each["content"]].append((tuple(each["partition"]), content.to_pylist()))
    return found


ROWS = changes_at(
    ("c", None, {"id": 1, "c": "AT", "n": 1}),
    ("c", None, {"id": 2, "c": "AT", "n": 1}),
    ("u", {"id": 2, "c": "AT", "n": 1}, {"id": 3, "c": "DE", "n": 1}),
    # An old row that has no key, as databases write where it has not changed
    ("u", {"c": "AT"}, {"id": 1, "c": "DE", "n": 2}),
    ("d", {"id": 9}, None),
)


def test_a_table_gets_the_last_row_of_each_key_and_deletes_all_others(tmp_path):
    found = write(target(tmp_path, "id"), ROWS)
    assert found["DATA"] == [((), [{"id": 3, "c": "DE", "n": 1}, {"id": 1, "c": "DE", "n": 2}])]
    ((_, deletes),) = found["EQUALITY_DELETES"]
    assert sorted(each["id"] for each in deletes) == [1, 2, 3, 9]


def test_values_that_updates_lack_are_those_of_earlier_rows_of_the_key_or_of_the_table(tmp_path):
    rows = changes_at(
        ("c", None, {"id": 1, "c": "AT", "n": 1}),
        ("u", None, {"id": 1, "c": None, "n": 2}, {"kept": ["c"]}),
        ("u", None, {"id": 2, "c": None, "n": 3}, {"kept": ["c"]}),
        ("u", None, {"id": 2, "c": "CH", "n": None}, {"kept": ["n"]}),
        ("u", None, {"id": 3, "c": None, "n": 4}, {"kept": ["c"]}),
        ("u", None, {"id": 4, "c": None, "n": 5}, {"kept": ["c"]}),
    )
    known = pa.table({"id": pa.array([3, 2], pa.int64()), "c": ["DE", "old"], "n": pa.array([9, 9], pa.int32())})
    ((_, found),) = write(target(tmp_path, "id"), rows, known)["DATA"]
    assert [tuple(row.values()) for row in found] == [(1, "AT", 2), (2, "CH", 3), (3, "DE", 4), (4, None, 5)]


def test_an_empty_table_gets_no_delete_file(tmp_path):
    found = write(target(tmp_path, "id", is_empty=True), ROWS)
    assert (len(found["DATA"]), found["EQUALITY_DELETES"]) == (1, [])


def test_rows_of_partitions_are_in_files_of_their_own(tmp_path):
    found = write(target(tmp_path, "id", partition=(PartitionField("c"), PartitionField("n"))), ROWS)
    assert sorted(partition for partition, _ in found["DATA"]) == [("DE", 1), ("DE", 2)]
    assert [partition for partition, _ in found["EQUALITY_DELETES"]] == [()]


def test_files_have_the_ids_of_columns(tmp_path):
    write(target(tmp_path, "id"), ROWS)
    for path in (tmp_path / "data").iterdir():
        schema = pq.read_schema(path)
        assert schema.field("id").metadata[b"PARQUET:field_id"] == b"1"


def test_only_deletions_write_no_data(tmp_path):
    found = write(target(tmp_path, "id"), changes_at(("d", {"id": 1, "c": None, "n": None}, None)))
    assert (found["DATA"], len(found["EQUALITY_DELETES"])) == ([], 1)


def test_a_row_that_does_not_fit_is_refused(tmp_path):
    rows = changes_at(("c", None, {"id": 5}), ("c", None, {"id": 1, "n": 2**40}))
    with pytest.raises(ChangeError, match="offset 1 does not fit it: column 'n'"):
        write(target(tmp_path, "id"), rows)
