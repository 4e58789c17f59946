"""The csv format."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt

from millrace.contracts import Decoder, Encoder, Format
from millrace_formats.csv.decoder import CsvDecoder
from millrace_formats.csv.encoder import CsvEncoder
from millrace_formats.csv.options import CsvOptions
from millrace_formats.shared.sql_types import check_schema, is_scalar, sql_name


class CsvFormat(Format):
    """Read and write one line of separated values a message, one field a column, in the columns' order.

    All of SQL's scalar types except intervals are supported, and arrays and structs of them. Conversions are those of
    the reference, see `millrace_formats.csv.exact_reader`.
    """

    Options = CsvOptions
    options: CsvOptions

    def decoder(self, schema: pa.Schema) -> Decoder:
        """Make a decoder to rows of ``schema``; SchemaError when a column's type is not supported."""
        check_schema("csv", schema, _problem)
        return CsvDecoder(schema, self.options)

    def encoder(self, schema: pa.Schema) -> Encoder:
        """Make an encoder of rows of ``schema``; SchemaError when a column's type is not supported."""
        check_schema("csv", schema, _problem)
        return CsvEncoder(schema, self.options)


def _problem(path: str, type_: pa.DataType) -> str | None:
    inner = [type_]
    if pt.is_list(type_):
        inner = [type_.value_type]
    elif pt.is_struct(type_):
        inner = [type_.field(i).type for i in range(type_.num_fields)]
    if inner and all(map(is_scalar, inner)):
        return None
    return f"column {path} has the type {sql_name(type_)}; supported are scalars, and arrays and structs of scalars"
