"""The debezium-avro-confluent format on a real registry."""

from __future__ import annotations

import datetime as dt
from typing import Any, ClassVar

import pyarrow as pa
import pytest

from millrace.contracts import Payloads, SerializationContext
from millrace.testing import ChangelogFormatSuite
from millrace_formats.avro.debezium_format import DebeziumAvroConfluentFormat
from millrace_formats.avro.registry.options import DebeziumAvroOptions
from unit.formats.avro.datums import decoded as value_of
from unit.formats.avro.datums import framed


@pytest.fixture
def subject(request: pytest.FixtureRequest) -> str:
    return f"{request.node.name}-value"


@pytest.fixture
def options(registry: Any) -> DebeziumAvroOptions:
    return DebeziumAvroOptions(url=registry.url)


class TestDebezium(ChangelogFormatSuite):
    bad = (b"\0", b"{}", b"\1\0\0\0\1x", b"\0\x7f\0\0\0x")
    kinds_read: ClassVar = {"-U": "-D", "+U": "+I"}

    @pytest.fixture(autouse=True)
    def _start(self, registry: Any) -> None:
        self.url = registry.url
        schema_id = registry.register("conformance-changes", ENVELOPE)
        self.changes = (envelope(schema_id, ROW, ROW | {"weight": 9.0}, "u"), envelope(schema_id, ROW, ROW, "u"))

    def make_format(self) -> DebeziumAvroConfluentFormat:
        return DebeziumAvroConfluentFormat(DebeziumAvroOptions(url=self.url, subject="conformance-debezium"))

    def schema(self) -> pa.Schema:
        return COLUMNS

    def rows(self) -> pa.RecordBatch:
        rows = [{"id": 1, "name": "a", "weight": 0.5}, {"id": 2, "name": None, "weight": None}, ROW]
        return pa.RecordBatch.from_pylist(rows, schema=self.schema())


COLUMNS = pa.schema([pa.field("id", pa.int64(), False), ("name", pa.string()), ("weight", pa.float64())])
ROW = {"id": 7, "name": "hammer", "weight": 1.5}
ENVELOPE = {
    "type": "record",
    "name": "Envelope",
    "namespace": "shop.products",
    "fields": [
        {
            "name": "before",
            "type": [
                "null",
                {
                    "type": "record",
                    "name": "Value",
                    "fields": [
                        {"name": "id", "type": {"type": "int", "connect.default": 0}, "default": 0},
                        {"name": "name", "type": ["null", "string"], "default": None},
                        {"name": "weight", "type": ["null", "double"], "default": None},
                    ],
                    "connect.name": "shop.products.Value",
                },
            ],
            "default": None,
        },
        {"name": "after", "type": ["null", "Value"], "default": None},
        {
            "name": "source",
            "type": {
                "type": "record",
                "name": "Source",
                "namespace": "io.debezium.connector.mysql",
                "fields": [
                    {"name": "version", "type": "string"},
                    {"name": "ts_ms", "type": "long"},
                    {"name": "snapshot", "type": ["boolean", "null"], "default": False},
                    {"name": "db", "type": "string"},
                    {"name": "table", "type": ["null", "string"], "default": None},
                    {"name": "pos", "type": "long"},
                ],
            },
        },
        {"name": "op", "type": "string"},
        {"name": "ts_ms", "type": ["null", "long"], "default": None},
    ],
}
SOURCE = {"version": "1.9", "ts_ms": 1_589_362_330_904, "snapshot": None, "db": "shop", "table": "products", "pos": 5}


def envelope(schema_id: int, before: Any, after: Any, operation: str, millis: int | None = 1_589_362_331_000) -> bytes:
    change = {"before": before, "after": after, "source": SOURCE, "op": operation, "ts_ms": millis}
    return framed(schema_id, ENVELOPE, change)


def test_changes_of_debezium(registry: Any, options: DebeziumAvroOptions, subject: str) -> None:
    schema_id = registry.register(subject, ENVELOPE)
    other = ROW | {"weight": 2.0}
    items = [
        envelope(schema_id, None, ROW, "c"),
        envelope(schema_id, None, ROW, "r", None),
        None,
        b"",
        envelope(schema_id, ROW, other, "u"),
        envelope(schema_id, None, other, "u"),
        envelope(schema_id, other, None, "d"),
        envelope(schema_id, None, None, "d"),
        envelope(schema_id, None, None, "c"),
        envelope(schema_id, None, None, "t"),
    ]
    keys = [
        "source.table",
        "ingestion-timestamp",
        "source.timestamp",
        "source.database",
        "source.schema",
        "source.properties",
    ]
    decoded = DebeziumAvroConfluentFormat(options).decoder(COLUMNS, keys).decode(Payloads(items))
    assert decoded.row_kinds.to_pylist() == ["+I", "+I", "-U", "+U", "-D"]
    assert decoded.rows.to_pylist() == [ROW, ROW, ROW, other, other]
    assert decoded.message_index.to_pylist() == [0, 1, 4, 4, 6]
    assert [(error.index, error.reason) for error in decoded.errors] == [
        (5, "field before: it is null, though the operation is 'u', an update: the database does not send the old "
            "row. In Postgres, run ALTER TABLE ... REPLICA IDENTITY FULL. For a table with a primary key, "
            "'debezium-avro-confluent.updates-without-old-row' = 'upsert' reads the new row alone"),
        (7, "field before: it is null, though the operation is 'd', a deletion: the database does not send the old "
            "row. In Postgres, run ALTER TABLE ... REPLICA IDENTITY FULL"),
        (8, "field after: it is null, though the operation is 'c', an insertion"),
        (9, "field op: 't' is a truncation, which rows of changes cannot say: read the topic with a pipeline, which "
            "empties the table of its sink"),
    ]  # fmt: skip
    told = {
        "source.table": "products",
        "ingestion-timestamp": dt.datetime(2020, 5, 13, 9, 32, 11, tzinfo=dt.UTC),
        "source.timestamp": dt.datetime(2020, 5, 13, 9, 32, 10, 904_000, tzinfo=dt.UTC),
        "source.database": "shop",
        "source.schema": None,
        "source.properties": [
            ("version", "1.9"), ("ts_ms", "1589362330904"), ("snapshot", None), ("db", "shop"), ("table", "products"),
            ("pos", "5"),
        ],
    }  # fmt: skip
    assert decoded.metadata.to_pylist() == [told, told | {"ingestion-timestamp": None}, told, told, told]


def test_changes_are_written_as_flink_writes_them(registry: Any, options: DebeziumAvroOptions, subject: str) -> None:
    format_ = DebeziumAvroConfluentFormat(options)
    rows = pa.RecordBatch.from_pylist([ROW] * 4, schema=COLUMNS)
    kinds = pa.array(["+I", "-U", "+U", "-D"])
    messages = (
        format_.encoder_for(COLUMNS, SerializationContext(subject.removesuffix("-value"))).encode(rows, kinds).to_list()
    )
    (schema,) = registry.schemas(subject)
    row = {
        "type": "record",
        "name": "record_before",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "name", "type": ["null", "string"], "default": None},
            {"name": "weight", "type": ["null", "double"], "default": None},
        ],
    }
    assert schema == [
        "null",
        {
            "type": "record",
            "name": "record",
            "namespace": "org.apache.flink.avro.generated",
            "fields": [
                {"name": "before", "type": ["null", row], "default": None},
                {"name": "after", "type": ["null", row | {"name": "record_after"}], "default": None},
                {"name": "op", "type": ["null", "string"], "default": None},
            ],
        },
    ]
    inserted, deleted = ({"before": None, "after": ROW, "op": "c"}, {"before": ROW, "after": None, "op": "d"})
    assert [value_of(schema, message[5:]) for message in messages] == [
        inserted, deleted, inserted, deleted,
    ]  # fmt: skip
