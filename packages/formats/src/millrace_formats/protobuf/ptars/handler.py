"""Make ptars' handler of a row, which converts batches of messages to Arrow and back."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.types as pt
from google.protobuf.descriptor_pool import DescriptorPool

from millrace_formats.protobuf.ptars.wire_type import UnsupportedError, wire_arrow_type, wire_file
from millrace_formats.protobuf.schema.fields import Struct


def ptars_handler(row: Struct, *, with_oneofs: bool) -> Any:
    """Make the handler of a row.

    Args:
        row: The row.
        with_oneofs: Whether batches have the other members of the row's oneofs too.

    Raises:
        UnsupportedError: ptars is not installed for this Python, or does not support the row.
    """
    try:
        from ptars import HandlerPool
    except ImportError as error:
        raise UnsupportedError(f"ptars cannot be imported ({error})") from None
    file, name = wire_file(row, with_oneofs=with_oneofs)
    pool = DescriptorPool()
    pool.Add(file)
    message = pool.FindMessageTypeByName(name)
    handler = HandlerPool([message.file]).get_for_message(message)
    expected = wire_arrow_type(row)
    for field in expected:
        # ptars would silently leave out a column of another type
        if not _has_type(actual := handler.schema().field(field.name).type, field.type):
            raise UnsupportedError(f"ptars has {actual} where {field.type} was expected")
    return handler


def is_refusal(error: BaseException) -> bool:
    """Return whether ptars refuses its input by an error.

    A panic of Rust code comes as pyo3's PanicException, a BaseException whose class cannot be imported.
    """
    return isinstance(error, ValueError) or type(error).__name__ == "PanicException"


def _has_type(actual: pa.DataType, expected: pa.DataType) -> bool:
    """Compare types, but for nullability and for fields of structs that are not expected."""
    if pt.is_struct(expected):
        names = [field.name for field in actual] if pt.is_struct(actual) else []
        return all(field.name in names and _has_type(actual.field(field.name).type, field.type) for field in expected)
    if pt.is_list(expected):
        return pt.is_list(actual) and _has_type(actual.value_type, expected.value_type)
    return actual == expected
