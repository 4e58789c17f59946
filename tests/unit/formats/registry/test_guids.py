"""Messages whose schema a GUID names, as Confluent's serializers write them with it in a header."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
from confluent_kafka.schema_registry import Schema, header_schema_id_serializer
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import wrappers_pb2

from millrace.contracts import Payloads
from millrace_formats.avro.confluent_format import AvroConfluentFormat
from millrace_formats.avro.debezium_format import DebeziumAvroConfluentFormat
from millrace_formats.avro.registry.options import AvroRegistryOptions, DebeziumAvroOptions
from millrace_formats.json.confluent_format import JsonConfluentFormat
from millrace_formats.json.registry.options import JsonRegistryOptions
from millrace_formats.protobuf.confluent_format import ProtobufConfluentFormat
from millrace_formats.protobuf.registry.options import ProtobufRegistryOptions
from millrace_formats.registry.client import registry_client
from millrace_formats.registry.frame import frame_of
from support.names import unique_name

COLUMNS = pa.schema([("id", pa.int64()), ("name", pa.string())])
OLD = {"type": "record", "name": "R", "fields": [{"name": "id", "type": "int"}]}
NEW = {"type": "record", "name": "R", "fields": [{"name": "name", "type": "string"}, {"name": "id", "type": "long"}]}
ROWS = [{"id": number, "name": f"row {number}"} for number in range(5)]


def options_of(kind: Any) -> Any:
    return kind(url=f"mock://{unique_name('registry')}")


def client_of(name: str, options: Any) -> Any:
    """Return Confluent's own client of the registry in memory that a format asks."""
    return registry_client(name, options).library


def headed(serializer: Any, value: Any) -> bytes:
    """Serialize a value with the GUID of its schema in a header, and return the header's value and the payload."""
    headers: list[tuple[str, bytes]] = []
    payload = serializer(value, SerializationContext("t", MessageField.VALUE, headers))
    ((name, header),) = headers
    assert name == "__value_schema_id"
    assert header[0] == 1
    return header + payload


def avro_serializer(client: Any, schema: dict[str, Any]) -> Any:
    return AvroSerializer(client, json.dumps(schema), conf={"schema.id.serializer": header_schema_id_serializer})


def test_avro_of_several_schemas_by_id_and_by_guid() -> None:
    options = options_of(AvroRegistryOptions)
    client = client_of("avro-confluent", options)
    new = avro_serializer(client, NEW)
    old = avro_serializer(client, OLD)
    framed = frame_of(client.register_schema("framed", Schema(json.dumps(OLD), "AVRO"))) + b"\x0e"
    messages = [headed(new, row) for row in ROWS]
    messages[2:2] = [framed, headed(old, {"id": 8})]
    decoder = AvroConfluentFormat(options).decoder(COLUMNS)
    for batch in (messages, messages[2:], messages[3:]):
        decoded = decoder.decode(Payloads(batch))
        assert not decoded.errors
        expected = [*ROWS[:2], {"id": 7, "name": None}, {"id": 8, "name": None}, *ROWS[2:]]
        assert decoded.rows.to_pylist() == expected[len(messages) - len(batch) :]


def test_a_broken_message_of_a_guid_is_malformed_alone() -> None:
    options = options_of(AvroRegistryOptions)
    new = avro_serializer(client_of("avro-confluent", options), NEW)
    messages = [headed(new, row) for row in ROWS]
    messages[1] = messages[1][:20]
    messages[3] = b"\1" + bytes(16) + b"\x02a\x02"
    decoded = AvroConfluentFormat(options).decoder(COLUMNS).decode(Payloads(messages))
    assert [error.index for error in decoded.errors] == [1, 3]
    assert decoded.errors[1].reason.startswith(
        "schema 00000000-0000-0000-0000-000000000000 is not in the registry at mock://"
    )
    assert "PrefixSchemaIdSerializer" in decoded.errors[1].reason
    assert decoded.rows.to_pylist() == [ROWS[0], ROWS[2], ROWS[4]]


def test_json() -> None:
    options = options_of(JsonRegistryOptions)
    schema = {"title": "R", "type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}
    conf = {"schema.id.serializer": header_schema_id_serializer}
    serializer = JSONSerializer(json.dumps(schema), client_of("json-confluent", options), conf=conf)
    messages = [headed(serializer, row) for row in ROWS]
    decoded = JsonConfluentFormat(options).decoder(COLUMNS).decode(Payloads(messages))
    assert decoded.rows.to_pylist() == ROWS


def test_protobuf_with_the_path_to_its_message_in_the_header() -> None:
    options = options_of(ProtobufRegistryOptions)
    conf = {"use.deprecated.format": False, "schema.id.serializer": header_schema_id_serializer}
    client = client_of("protobuf-confluent", options)
    serializer = ProtobufSerializer(wrappers_pb2.Int64Value, client, conf)
    messages = [headed(serializer, wrappers_pb2.Int64Value(value=number)) for number in (7, 8)]
    decoded = ProtobufConfluentFormat(options).decoder(pa.schema([("value", pa.int64())])).decode(Payloads(messages))
    assert decoded.rows.to_pylist() == [{"value": 7}, {"value": 8}]


def test_the_types_of_changes_are_those_of_their_guid() -> None:
    options = options_of(DebeziumAvroOptions)
    row = {"type": "record", "name": "Value", "fields": [{"name": "id", "type": "int"}]}
    fields = [
        {"name": "before", "type": ["null", row]},
        {"name": "after", "type": ["null", "Value"]},
        {"name": "op", "type": "string"},
    ]
    envelope = {"type": "record", "name": "Envelope", "fields": fields}
    serializer = avro_serializer(client_of("debezium-avro-confluent", options), envelope)
    change = {"before": None, "after": {"id": 7}, "op": "c"}
    format_ = DebeziumAvroConfluentFormat(options)
    read = format_.connect_reader()
    assert read is not None
    message = read(headed(serializer, change))
    assert message is not None
    assert message.value == change
    decoded = format_.decoder(pa.schema([("id", pa.int64())])).decode(Payloads([headed(serializer, change)]))
    assert decoded.rows.to_pylist() == [{"id": 7}]
