"""The avro format: messages that are single values of one schema, which both sides know."""

from __future__ import annotations

import pyarrow as pa

from millrace.contracts import Decoder, Encoder, Format
from millrace_formats.avro.decoder import AvroDecoder, AvroJsonDecoder
from millrace_formats.avro.derive import check_columns
from millrace_formats.avro.encoder import AvroEncoder, BinaryRows, JsonRows
from millrace_formats.avro.library import check_installed
from millrace_formats.avro.options import AvroOptions
from millrace_formats.avro.put import plan_put
from millrace_formats.avro.schemas import checked_plan, schema_for

_NAME = "avro"


class AvroFormat(Format):
    """One record a message, without a schema: that is derived from the columns as the reference does, or given.

    Carries all of SQL's types but intervals, maps with keys that are not text, and structs without fields.
    """

    Options = AvroOptions
    options: AvroOptions

    def decoder(self, schema: pa.Schema) -> Decoder:
        """A decoder to rows of ``schema``; SchemaError when a column cannot be read."""
        check_installed(_NAME)
        check_columns(_NAME, schema)
        legacy = self.options.legacy_timestamps
        writer = schema_for(_NAME, self.options.schema, schema, legacy=legacy)
        plan = checked_plan(_NAME, writer, None, schema, legacy=legacy)
        return AvroJsonDecoder(schema, plan) if self.options.encoding == "json" else AvroDecoder(schema, plan)

    def encoder(self, schema: pa.Schema) -> Encoder:
        """An encoder of rows of ``schema``; SchemaError when a column cannot be written."""
        check_installed(_NAME)
        check_columns(_NAME, schema)
        legacy = self.options.legacy_timestamps
        writer = schema_for(_NAME, self.options.schema, schema, legacy=legacy)
        put = plan_put(_NAME, writer, schema, legacy=legacy)
        rows = JsonRows(put) if self.options.encoding == "json" else BinaryRows(put)
        return AvroEncoder(_NAME, schema, rows)
