"""The protobuf encoder: ptars for most rows, protobuf's own library for the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from millrace.contracts import Encoder, Payloads
from millrace.errors import SchemaError
from millrace_formats.protobuf.options import MessageOptions
from millrace_formats.protobuf.ptars.handler import is_refusal, ptars_handler
from millrace_formats.protobuf.ptars.wire_type import UnsupportedError
from millrace_formats.protobuf.schema.fields import MapValue, MessageField, RepeatedValue, Struct
from millrace_formats.protobuf.schema.mapping import map_schema
from millrace_formats.protobuf.writer.exact_writer import ProtobufExactWriter
from millrace_formats.protobuf.writer.ptars_rows import PtarsRows
from millrace_formats.protobuf.writer.value_path import ValuePath
from millrace_formats.shared.insert_only import check_insertions


class ProtobufEncoder(Encoder):
    """Write rows as messages of one type, as Flink's ``RowToProtoConverter`` does.

    - A NULL is not written. In an array or map, where protobuf has none, it is 0, false, empty, the enum's first value,
      a message without fields, or for text what write-null-string-literal says.
    - Of a oneof's members the last column that is not NULL is written.
    - An enum's name that it does not have is an error, and so is a number that is too large for its field.

    Columns are converted for ptars, which writes a batch at once; the few rows that it would write otherwise than
    protobuf's own library (a negative zero, several members of a oneof) are written by that.

    Args:
        schema: The columns.
        message_class: The class of the messages.
        options: The options of protobuf.

    Raises:
        SchemaError: A column is not in the message type, or a required field has no column.
    """

    def __init__(self, schema: pa.Schema, message_class: Any, options: MessageOptions) -> None:
        self._schema = schema
        self._row = map_schema(schema, message_class.DESCRIPTOR)
        _check_required(self._row, "")
        self._ptars_rows = PtarsRows(options.write_null_string_literal)
        self._exact = ProtobufExactWriter(message_class, self._row)
        try:
            self._handler = ptars_handler(self._row, with_oneofs=False)
        except UnsupportedError:
            self._handler = None

    def encode(self, rows: pa.RecordBatch, row_kinds: pa.StringArray | None = None) -> Payloads:
        """Encode a batch, one message a row."""
        check_insertions("protobuf", self._schema, rows, row_kinds)
        exact: list[np.ndarray] = []
        converted = self._ptars_rows.struct(self._row, rows.to_struct_array(), ValuePath(exact.append))
        array = self._write_with_ptars(converted)
        if array is None:
            return Payloads(self._exact.write(converted))
        if not exact:
            return Payloads(array)
        payloads = list(Payloads(array).to_list())
        for index in np.unique(np.concatenate(exact)).tolist():
            payloads[index] = self._exact.write(converted.slice(index, 1))[0]
        return Payloads(payloads)

    def _write_with_ptars(self, converted: pa.StructArray) -> pa.BinaryArray | None:
        """Write rows with ptars; None when it refuses them."""
        if self._handler is None:
            return None
        try:
            payloads = self._handler.record_batch_to_array(pa.RecordBatch.from_struct_array(converted))
        except BaseException as error:
            if not is_refusal(error):
                raise
            return None
        if len(payloads) != len(converted):
            raise AssertionError(f"{len(converted)} rows became {len(payloads)} messages")
        return payloads


def _check_required(struct: Struct, path: str) -> None:
    names = {field.name for field in struct.fields}
    missing = [field.name for field in struct.message.fields if field.is_required and field.name not in names]
    if missing:
        where = f"column {path} lacks" if path else "there is no column for"
        raise SchemaError(
            f"format protobuf does not support this schema: {where} {', '.join(missing)}, which message "
            f"{struct.message.full_name} requires"
        )
    for field in struct.fields:
        inner = _inner(field)
        if isinstance(inner, Struct):
            _check_required(inner, f"{path}.{field.name}" if path else field.name)


def _inner(field: MessageField) -> object:
    match field.value:
        case RepeatedValue(element):
            return element
        case MapValue(_, item):
            return item
        case value:
            return value
