"""The json format: what it can carry, and its decoder and encoder."""

from __future__ import annotations

import pyarrow as pa

from millrace.contracts import Decoder, Encoder, Format
from millrace_formats.json.decoder import JsonDecoder
from millrace_formats.json.encoder import JsonEncoder
from millrace_formats.json.flatten import FlatDecoder
from millrace_formats.json.options import JsonOptions
from millrace_formats.json.rescued_data import RescueDecoder, check_rescue_column
from millrace_formats.shared.sql_types import check_schema, nested_problem


class JsonFormat(Format):
    """One JSON object a message, one field a column, matched by its exact name.

    Carries all of SQL's types, nested to any depth, except intervals. Conversions are those of the reference, see
    `millrace_formats.json.exact_reader`.
    """

    Options = JsonOptions
    options: JsonOptions

    def decoder(self, schema: pa.Schema) -> Decoder:
        """A decoder to rows of ``schema``; SchemaError when a column's type is not supported."""
        check_schema("json", schema, nested_problem)
        rescued = self.options.rescued
        if rescued is None:
            return self._decoder(schema)
        check_rescue_column(schema, rescued)
        others = pa.schema([field for field in schema if field.name != rescued])
        check_schema("json", others, nested_problem)
        return RescueDecoder(self._decoder(others), schema, rescued, flattens=self.options.flattens)

    def _decoder(self, schema: pa.Schema) -> Decoder:
        decoder = JsonDecoder(schema, self.options)
        has_nested = self.options.flattens and any("." in name for name in schema.names)
        return FlatDecoder(decoder, schema.names) if has_nested else decoder

    def encoder(self, schema: pa.Schema) -> Encoder:
        """An encoder of rows of ``schema``; SchemaError when a column's type is not supported."""
        check_schema("json", schema, nested_problem)
        return JsonEncoder(schema, self.options)
