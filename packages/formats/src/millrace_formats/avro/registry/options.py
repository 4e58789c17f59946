"""The options of Avro behind a schema registry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from millrace.options import option
from millrace_formats.registry.options import RegistryOptions
from millrace_formats.shared.old_rows import old_rows_option


@dataclass(frozen=True, kw_only=True)
class AvroRegistryOptions(RegistryOptions):
    """Options of avro-confluent and debezium-avro-confluent."""

    schema: str | None = option(
        "schema",
        default=None,
        aliases=("schema-registry.schema",),
        doc="Schema to read and write by, as JSON; by default derived from the columns.",
    )
    legacy_timestamps: bool = option(
        "timestamp_mapping.legacy",
        default=True,
        doc="Derive timestamp-millis from both TIMESTAMP and TIMESTAMP_NTZ; if false, timestamp-micros from TIMESTAMP "
        "and local-timestamp-micros from TIMESTAMP_NTZ (an addition).",
    )


@dataclass(frozen=True, kw_only=True)
class DebeziumAvroOptions(AvroRegistryOptions):
    """Options of debezium-avro-confluent."""

    updates_without_old_row: Literal["fail", "upsert"] = old_rows_option()
