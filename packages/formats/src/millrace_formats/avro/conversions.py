"""Which conversion leads from a type of Avro's to a type of SQL's."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt

from millrace_formats.avro.conversion import Conversion
from millrace_formats.avro.decimal_values import decimal_conversion
from millrace_formats.avro.derive import timestamp_meaning
from millrace_formats.avro.model import AvroType, Enum, Fixed, Scalar
from millrace_formats.avro.number_values import number_conversion
from millrace_formats.avro.text_values import bytes_conversion, symbol_conversion, text_conversion, uuid_conversion
from millrace_formats.avro.time_values import time_conversion

_OCTETS = {"bytes", "string"}


def conversion(writer: AvroType, reader: AvroType | None, type_: pa.DataType, legacy: bool) -> Conversion | None:
    """From a value of the writer's type to a scalar column.

    Args:
        writer: The type that the message was written with.
        reader: The type that the reader's schema has for it; None without one.
        type_: The column's type.
        legacy: What a plain number means in a timestamp's column, see `derive_record`.

    Returns:
        The conversion; None where there is none.
    """
    if isinstance(writer, Enum):
        own = reader if isinstance(reader, Enum) else None
        symbols = frozenset(own.symbols) if own else frozenset()
        return symbol_conversion(symbols, own.default if own else None) if type_ == pa.string() else None
    if isinstance(writer, Scalar) and writer.kind not in _OCTETS:
        return _of_number(writer, reader, type_, legacy)
    return _of_octets(writer, reader, type_) if isinstance(writer, Scalar | Fixed) else None


def _of_number(writer: Scalar, reader: AvroType | None, type_: pa.DataType, legacy: bool) -> Conversion | None:
    found = number_conversion(writer.kind, type_)
    if found or not pt.is_temporal(type_) or writer.kind not in ("int", "long"):
        return found
    if writer.logical:
        return time_conversion(writer.logical.name, type_)
    if isinstance(reader, Scalar) and reader.logical:
        return time_conversion(reader.logical.name, type_)
    # As the reference, which reads it as the type that it derives from the column
    if pt.is_timestamp(type_):
        return time_conversion(timestamp_meaning(type_, legacy).name, type_) if writer.kind == "long" else None
    return time_conversion("date" if pt.is_date32(type_) else "time-millis", type_) if writer.kind == "int" else None


def _of_octets(writer: Scalar | Fixed, reader: AvroType | None, type_: pa.DataType) -> Conversion | None:
    if type_ == pa.binary():
        return bytes_conversion()
    if type_ == pa.string():
        if isinstance(writer, Scalar):
            return text_conversion()
        return uuid_conversion() if writer.logical and writer.logical.name == "uuid" else None
    if not pt.is_decimal128(type_) or (isinstance(writer, Scalar) and writer.kind == "string"):
        return None
    logical = writer.logical or (reader.logical if isinstance(reader, Scalar | Fixed) else None)
    if logical is None:
        return decimal_conversion(type_, type_.scale)
    return decimal_conversion(type_, logical.scale) if logical.name == "decimal" else None
