"""ptars' handler of a row: batches of messages to Arrow and back."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.types as pt
from google.protobuf.descriptor_pool import DescriptorPool

from millrace_formats.protobuf.ptars.wire_type import UnsupportedError, wire_arrow_type, wire_file
from millrace_formats.protobuf.schema.fields import Struct


def ptars_handler(row: Struct, *, with_oneofs: bool) -> Any:
    """A handler of a row.

    Args:
        row: The row.
        with_oneofs: Whether its batches have the other members of oneofs too.

    Raises:
        UnsupportedError: ptars is not installed for this Python, or cannot do it.
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
        # a column of another type would be left out in silence
        if not _same(found := handler.schema().field(field.name).type, field.type):
            raise UnsupportedError(f"ptars has {found} where {field.type} was expected")
    return handler


def is_refusal(error: BaseException) -> bool:
    """Whether an error is one by which ptars refuses what it is given; a panic is not even an Exception."""
    return isinstance(error, ValueError) or type(error).__name__ == "PanicException"


def _same(one: pa.DataType, other: pa.DataType) -> bool:
    """Whether two types are the same but for what may be null, and for fields that the second does not have."""
    if pt.is_struct(other):
        names = [field.name for field in one] if pt.is_struct(one) else []
        return all(field.name in names and _same(one.field(field.name).type, field.type) for field in other)
    if pt.is_list(other):
        return pt.is_list(one) and _same(one.value_type, other.value_type)
    return one == other
