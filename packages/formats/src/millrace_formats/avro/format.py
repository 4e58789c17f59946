"""The avro format: messages that are single values of one schema, which both sides know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from millrace.contracts import Decoder, Encoder, Format
from millrace.options import option
from millrace_formats.avro.pyruhvro_library import check_installed
from millrace_formats.avro.reader.decoder import AvroDecoder, AvroJsonDecoder
from millrace_formats.avro.reader.resolution import resolve_or_raise
from millrace_formats.avro.schema.derivation import check_columns, derive_record
from millrace_formats.avro.schema.model import AvroType
from millrace_formats.avro.schema.parser import schema_option
from millrace_formats.avro.writer.encoder import AvroEncoder, BinaryWriter, JsonWriter
from millrace_formats.avro.writer.write_plan import plan_write

_NAME = "avro"


@dataclass(frozen=True)
class AvroOptions:
    """Options of avro, with the names and defaults of Flink's format.

    See https://nightlies.apache.org/flink/flink-docs-stable/docs/connectors/table/formats/avro/.
    """

    encoding: Literal["binary", "json"] = option(
        "encoding", default="binary", doc="Avro's encoding of the messages: binary, or JSON, which is readable."
    )
    legacy_timestamps: bool = option(
        "timestamp_mapping.legacy",
        default=True,
        doc="Write TIMESTAMP and TIMESTAMP_NTZ both as timestamp-millis; if false, TIMESTAMP as timestamp-micros and "
        "TIMESTAMP_NTZ as local-timestamp-micros.",
    )
    schema: str | None = option(
        "schema",
        default=None,
        doc="Schema of the messages as JSON; by default derived from the columns (an addition).",
    )


class AvroFormat(Format):
    """One record a message; its schema is derived from the columns as Flink does, or given by an option.

    Carries all of SQL's types but intervals, maps whose keys are not strings, and structs without fields.
    """

    Options = AvroOptions
    options: AvroOptions

    @classmethod
    def check_requirements(cls) -> None:
        """Check that pyruhvro is installed: see `Plugin.check_requirements`."""
        check_installed(_NAME)

    def decoder(self, schema: pa.Schema) -> Decoder:
        """Return a decoder to rows of ``schema``; SchemaError when a column cannot be read."""
        writer, legacy = self._message_schema(schema), self.options.legacy_timestamps
        plan = resolve_or_raise(_NAME, writer, None, schema, legacy=legacy)
        return AvroJsonDecoder(schema, plan) if self.options.encoding == "json" else AvroDecoder(schema, plan)

    def encoder(self, schema: pa.Schema) -> Encoder:
        """Return an encoder of rows of ``schema``; SchemaError when a column cannot be written."""
        plan = plan_write(_NAME, self._message_schema(schema), schema, legacy=self.options.legacy_timestamps)
        writer = JsonWriter(plan) if self.options.encoding == "json" else BinaryWriter(plan)
        return AvroEncoder(_NAME, schema, writer)

    def _message_schema(self, schema: pa.Schema) -> AvroType:
        check_installed(_NAME)
        check_columns(_NAME, schema)
        if self.options.schema is not None:
            return schema_option(_NAME, self.options.schema)
        return derive_record(list(schema), self.options.legacy_timestamps)
