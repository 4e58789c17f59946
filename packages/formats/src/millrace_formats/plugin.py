"""Register the formats of this package."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.plugins import hookimpl


@hookimpl
def millrace_formats() -> Mapping[str, str]:
    """Return the formats of this package and their classes."""
    return {
        "avro": "millrace_formats.avro:AvroFormat",
        "avro-confluent": "millrace_formats.avro.confluent_format:AvroConfluentFormat",
        "canal-json": "millrace_formats.changelog.canal_json:CanalJsonFormat",
        "csv": "millrace_formats.csv:CsvFormat",
        "debezium-avro-confluent": "millrace_formats.avro.debezium_format:DebeziumAvroConfluentFormat",
        "debezium-json": "millrace_formats.changelog.debezium_json:DebeziumJsonFormat",
        "json": "millrace_formats.json:JsonFormat",
        "json-confluent": "millrace_formats.json.confluent_format:JsonConfluentFormat",
        "maxwell-json": "millrace_formats.changelog.maxwell_json:MaxwellJsonFormat",
        "ogg-json": "millrace_formats.changelog.ogg_json:OggJsonFormat",
        "protobuf": "millrace_formats.protobuf:ProtobufFormat",
        "protobuf-confluent": "millrace_formats.protobuf.confluent_format:ProtobufConfluentFormat",
        "raw": "millrace_formats.raw:RawFormat",
    }
