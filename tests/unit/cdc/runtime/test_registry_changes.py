"""Changes of Debezium in Avro: their tables, columns and rows, as those of debezium-json with schemas have them."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from millrace.change_dialects import SkipReason
from millrace.contracts import SampledMessage
from millrace.errors import MessageError, OptionsError
from millrace.options.parser import OptionParser
from millrace.plugins import DEAD_LETTER_COLLECTOR, plugin_manager
from millrace_cdc.connectors.kafka.source import KafkaPipelineSource
from millrace_cdc.runtime.change_parser import ChangeParser
from millrace_cdc.runtime.extra_columns import HEADERS_COLUMN
from millrace_cdc.runtime.task_reports import Place, read_report
from millrace_formats.avro.registry.options import DebeziumAvroOptions
from millrace_formats.avro.registry.schemas import avro_registry
from unit.formats.avro.datums import framed, plain

NAME = "debezium-avro-confluent"
URL = "mock://registry-changes"
GIVEN = {
    "properties.bootstrap.servers": "h:1",
    "topic": "t",
    "scan.startup.mode": "earliest-offset",
    "value.format": NAME,
}


def connect(kind: str, name: str, **parameters: str) -> dict[str, Any]:
    return {"type": kind, "connect.name": name, **({"connect.parameters": parameters} if parameters else {})}


DECIMAL = connect("bytes", "org.apache.kafka.connect.data.Decimal", scale="2") | {
    "logicalType": "decimal",
    "precision": 10,
    "scale": 2,
}
COLUMNS: dict[str, tuple[Any, Any, str, Any]] = {
    # name: the Avro type, the value in Avro, the column's type, the value in JSON
    "id": ({"type": "long", "connect.default": 0}, 7, "BIGINT NOT NULL", 7),
    "small": ({"type": "int", "connect.type": "int16"}, 7, "SMALLINT NOT NULL", 7),
    "name": (["null", "string"], "ä", "STRING NOT NULL", "ä"),
    "none": (["null", "boolean"], None, "BOOLEAN", None),
    "raw": ("bytes", b"\0\1", "BYTES NOT NULL", "AAE="),
    "price": (DECIMAL, b"\x04\xd2", "DECIMAL(10, 2) NOT NULL", "12.34"),
    "plain_price": (
        {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 1},
        b"\x7b",
        "DECIMAL(4, 1) NOT NULL",
        "12.3",
    ),
    "unsized": (DECIMAL | {"precision": 64}, b"\x04\xd2", "DECIMAL(38, 2) NOT NULL", "12.34"),
    "day": (connect("int", "io.debezium.time.Date"), 19_000, "DATE NOT NULL", "2022-01-08"),
    "at": (
        connect("long", "io.debezium.time.MicroTimestamp"),
        1_700_000_000_123_456,
        "TIMESTAMP(6) NOT NULL",
        "2023-11-14 22:13:20.123456",
    ),
    "logical": (
        {"type": "long", "logicalType": "timestamp-millis"},
        1_700_000_000_123,
        "TIMESTAMP(3) NOT NULL",
        "2023-11-14 22:13:20.123",
    ),
    "zoned": (
        connect("string", "io.debezium.time.ZonedTimestamp"),
        "2024-01-02T03:04:05Z",
        "TIMESTAMP_LTZ(6) NOT NULL",
        "2024-01-02T03:04:05Z",
    ),
    "tags": ({"type": "array", "items": ["null", "string"]}, ["x", None], "ARRAY<STRING> NOT NULL", ["x", None]),
    "counts": ({"type": "map", "values": "int"}, {"a": 1}, "MAP<STRING, INT> NOT NULL", {"a": 1}),
    "kind": ({"type": "enum", "name": "Kind", "symbols": ["A", "B"]}, "B", "STRING NOT NULL", "B"),
    "point": (
        {
            "type": "record",
            "name": "Point",
            "fields": [{"name": "x", "type": "double"}, {"name": "wkb", "type": "bytes"}],
        },
        {"x": 1.5, "wkb": b"\1"},
        "STRING NOT NULL",
        {"x": 1.5, "wkb": "AQ=="},
    ),
    "numeric": (
        {
            "type": "record",
            "name": "VariableScaleDecimal",
            "namespace": "io.debezium.data",
            "fields": [{"name": "scale", "type": "int"}, {"name": "value", "type": "bytes"}],
            "connect.name": "io.debezium.data.VariableScaleDecimal",
        },
        {"scale": 3, "value": b"\x04\xd2"},
        "STRING NOT NULL",
        "1.234",
    ),
    "odd": ("double", float("nan"), "DOUBLE NOT NULL", "NaN"),
}


def envelope(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of the changes of a table, as Confluent's converter renders Debezium's."""
    row = {
        "type": "record",
        "name": "Value",
        "fields": [{"name": name, "type": type_} for name, type_ in fields.items()],
        "connect.name": "shop.Value",
    }
    source = {
        "type": "record",
        "name": "Source",
        "namespace": "io.debezium.connector.postgresql",
        "fields": [{"name": name, "type": ["null", "string"]} for name in ("db", "schema", "table")],
    }
    named = {"before": ["null", row], "after": ["null", "Value"], "source": source, "op": "string"}
    fields_ = [{"name": name, "type": type_} for name, type_ in named.items()]
    return {"type": "record", "name": "Envelope", "namespace": "shop", "fields": fields_}


SCHEMA = envelope({name: type_ for name, (type_, *_) in COLUMNS.items()})
ROW = {name: value for name, (_, value, *_) in COLUMNS.items()}
SOURCE = {"db": "d", "schema": "public", "table": "t1"}


def register(subject: str, schema: Any) -> int:
    registry = avro_registry(NAME, DebeziumAvroOptions(url=URL))
    return registry.register(f"{subject}-value", json.dumps(schema), is_new=True)


def message(schema_id: int, schema: Any, operation: str, before: Any, after: Any) -> bytes:
    change = {"before": before, "after": after, "source": SOURCE, "op": operation}
    return framed(schema_id, plain(schema), change)


def source(**given: str) -> KafkaPipelineSource:
    parser = OptionParser("source", GIVEN | given)
    options = parser.take(KafkaPipelineSource.Options)
    parser.finish()
    return KafkaPipelineSource(options)


@pytest.fixture
def parser() -> ChangeParser:
    return ChangeParser(source(**{f"{NAME}.url": URL}).parser_settings, {})


PLACE = Place("topic", 0, 5)


def test_columns_have_the_types_that_schemas_declare_and_rows_the_values_that_types_have(parser):
    schema_id = register("all", SCHEMA)
    (change,) = parser.changes(PLACE, message(schema_id, SCHEMA, "c", None, ROW))
    assert (change.table, change.operation) == ("d.public.t1", "c")
    ((before, after),) = change.rows
    assert before is None
    assert after == {name: value for name, (*_, value) in COLUMNS.items()}
    assert Decimal(after["price"]) == Decimal("12.34")
    (required,) = parser.report.tables["d.public.t1"].required
    assert required.columns == ", ".join(f"{name} {type_}" for name, (_, _, type_, _) in COLUMNS.items())


def test_a_new_schema_adds_columns_and_widens_types_and_old_rows_have_what_they_had(parser):
    first = envelope({"id": "int", "name": ["null", "string"]})
    second = envelope({"id": "long", "name": ["null", "string"], "new": ["null", "double"]})
    ids = register("first", first), register("second", second)
    old, new = {"id": 1, "name": "a"}, {"id": 2**40, "name": None, "new": None}
    messages = [
        message(ids[0], first, "r", None, old),
        message(ids[1], second, "u", old | {"new": None}, new),
        message(ids[0], first, "d", old, None),
        None,
        b"",
    ]
    found = [[(change.operation, *change.rows[0]) for change in parser.changes(PLACE, each)] for each in messages]
    assert found == [[("c", None, old)], [("u", old | {"new": None}, new)], [("d", old, None)], [], []]
    required = [each.columns for each in parser.report.tables["d.public.t1"].required]
    assert required == [
        "id INT NOT NULL, name STRING NOT NULL",
        "id BIGINT NOT NULL, name STRING, new DOUBLE",
    ]


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"{}", "expected the frame of a schema registry"),
        (b"\0\x7f\0\0\0x", "schema 2130706432 is not in the registry"),
        (b"CUT", "the message ends|bytes, but the message has"),
    ],
)
def test_malformed_messages_are_told_with_their_place(parser, payload, reason):
    if payload == b"CUT":
        payload = message(register("all", SCHEMA), SCHEMA, "c", None, ROW)[:20]
    with pytest.raises(MessageError, match=f"topic 'topic', partition 0, offset 5.*({reason})"):
        parser.changes(PLACE, payload)


KEY = {"type": "record", "name": "Key", "namespace": "shop", "fields": [{"name": "id", "type": "long"}]}


def test_options_are_those_of_the_format():
    assert [(each.option, each.sentence) for each in source().problems()] == [
        ("value.format", "option 'debezium-avro-confluent.url' is required")
    ]
    (problem,) = source(**{f"{NAME}.url": URL, f"{NAME}.nothing": "x"}).problems()
    assert (problem.option, problem.sentence[:14]) == (f"{NAME}.nothing", "unknown option")
    with pytest.raises(OptionsError, match="url must begin with http"):
        _ = source(**{f"{NAME}.url": "ftp://a"}).parser_settings
    plugin = source(**{f"{NAME}.schema-registry.url": URL, f"{NAME}.distributed-tables": "true"})
    assert not list(plugin.problems())
    assert plugin.parser_settings.has_distributed_tables
    secret = source(**{f"{NAME}.url": URL, f"{NAME}.basic-auth.user-info": "me:hunter2"})
    assert "hunter2" not in repr(secret.options) + repr(secret.parser_settings)


def test_keys_in_avro_are_primary_keys():
    settings = source(**{f"{NAME}.url": URL, "primary-keys-from": "key"}).parser_settings
    key_id = avro_registry(NAME, DebeziumAvroOptions(url=URL)).register("shop-key", json.dumps(KEY), is_new=True)
    value = message(register("shop", SCHEMA), SCHEMA, "c", None, ROW)
    (change,) = ChangeParser(settings, {}).changes(PLACE, value, framed(key_id, plain(KEY), {"id": 7}))
    assert change.primary_key == ("id",)


def batch_of(*messages: dict[str, Any]) -> pa.RecordBatch:
    """Return messages, which are given by key, value and headers, as a source's batch."""
    columns: dict[str, tuple[list[Any], pa.DataType]] = {
        "topic": (["topic"] * len(messages), pa.string()),
        "partition": ([0] * len(messages), pa.int32()),
        "offset": (list(range(len(messages))), pa.int64()),
        "timestamp": ([0] * len(messages), pa.timestamp("us", "UTC")),
        "key": ([each.get("key") for each in messages], pa.binary()),
        "value": ([each.get("value") for each in messages], pa.binary()),
        HEADERS_COLUMN: (
            [each.get("headers", []) for each in messages],
            pa.map_(pa.string(), pa.binary()),
        ),
    }
    return pa.record_batch({name: pa.array(values, type_) for name, (values, type_) in columns.items()})


def test_schemas_of_keys_and_values_may_be_in_headers(caplog):
    collector = plugin_manager().refer(DEAD_LETTER_COLLECTOR, "logger")
    settings = source(**{f"{NAME}.url": URL, "primary-keys-from": "key"}).parser_settings
    settings = replace(settings, skips_malformed=True, collector=collector)
    assert HEADERS_COLUMN in settings.source_columns
    key_id = avro_registry(NAME, DebeziumAvroOptions(url=URL)).register("shop-key", json.dumps(KEY), is_new=True)
    value_id = register("shop", SCHEMA)
    key = framed(key_id, plain(KEY), {"id": 7})
    value = message(value_id, SCHEMA, "c", None, ROW)
    in_headers = [("__key_schema_id", key[:5]), ("other", None), ("__value_schema_id", value[:5])]
    batch = batch_of(
        {"key": key, "value": value},
        {"key": key[5:], "value": value[5:], "headers": in_headers},
        {"key": key[5:], "value": None, "headers": in_headers},
        {"key": key[5:], "value": b"broken", "headers": in_headers},
    )
    changes, last = ChangeParser(settings, {}).parse(iter([batch]))
    assert [json.loads(row)["id"] for row in changes.column("after").to_pylist()] == [7, 7]
    report = read_report(last.column("report")[0].as_py())
    assert report.tables["d.public.t1"].required[0].primary_key == ("id",)
    assert not report.tables["d.public.t1"].key_problem
    assert (report.malformed, report.skipped[SkipReason.TOMBSTONE]) == (1, 1)
    # Collectors get messages as they were
    assert "It begins with 'broken'" in caplog.text


def test_a_sampled_message_has_the_schemas_of_its_headers(parser):
    settings = source(**{f"{NAME}.url": URL}).parser_settings
    value = message(register("shop", SCHEMA), SCHEMA, "c", None, ROW)
    sampled = SampledMessage(0, 5, None, value[5:], (("__value_schema_id", value[:5]),))
    (change,) = parser.changes(PLACE, sampled.value, None, None, settings.schemas_of_sample(sampled))
    assert change.table == "d.public.t1"
