"""The json format."""

from __future__ import annotations

import pyarrow as pa

from millrace.contracts import Decoder, Encoder, Format
from millrace_formats.json.decoder import JsonDecoder
from millrace_formats.json.encoder import JsonEncoder
from millrace_formats.json.flatten import FlatteningDecoder
from millrace_formats.json.options import JsonOptions
from millrace_formats.json.rescued_data import RescuedDataDecoder, check_rescued_data_column
from millrace_formats.json.row_arrays import RowArraysDecoder
from millrace_formats.json.table_filter import TableFilterDecoder
from millrace_formats.shared.sql_types import check_schema, nested_problem


class JsonFormat(Format):
    """Read and write one JSON object a message, its fields matched to columns by their exact names.

    A message that is an array is read as several rows.

    All of SQL's types are supported, nested to any depth, except intervals. Conversions are those of the reference, see
    `millrace_formats.json.exact_reader`.
    """

    Options = JsonOptions
    options: JsonOptions

    def decoder(self, schema: pa.Schema) -> Decoder:
        """Make a decoder to rows of ``schema``; SchemaError when a column's type is not supported."""
        check_schema("json", schema, nested_problem)
        return RowArraysDecoder(self._row_decoder(schema))

    def _row_decoder(self, schema: pa.Schema) -> Decoder:
        decoder, include = self._all_tables_decoder(schema), self.options.table_include
        if include is None:
            return decoder
        skips = self.options.ignore_parse_errors
        return TableFilterDecoder(decoder, self.options.table_fields, include, skips_malformed=skips)

    def _all_tables_decoder(self, schema: pa.Schema) -> Decoder:
        rescued = self.options.rescued
        if rescued is None:
            return self._decoder(schema)
        check_rescued_data_column(schema, rescued)
        others = pa.schema([field for field in schema if field.name != rescued])
        check_schema("json", others, nested_problem)
        return RescuedDataDecoder(self._decoder(others), schema, rescued, flattens=self.options.flattens)

    def _decoder(self, schema: pa.Schema) -> Decoder:
        decoder = JsonDecoder(schema, self.options)
        has_nested = self.options.flattens and any("." in name for name in schema.names)
        return FlatteningDecoder(decoder, schema) if has_nested else decoder

    def encoder(self, schema: pa.Schema) -> Encoder:
        """Make an encoder of rows of ``schema``; SchemaError when a column's type is not supported."""
        check_schema("json", schema, nested_problem)
        return JsonEncoder(schema, self.options)
