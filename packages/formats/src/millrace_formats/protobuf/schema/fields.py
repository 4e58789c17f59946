"""A tree of the columns and the protobuf fields that they are, which readers and writers follow."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from google.protobuf.descriptor import Descriptor, FieldDescriptor


@dataclass(frozen=True, eq=False)
class ScalarValue:
    """A number, boolean, text or bytes."""

    proto: FieldDescriptor
    type: pa.DataType


@dataclass(frozen=True, eq=False)
class EnumValue:
    """An enum, as the name of its value or as its number."""

    proto: FieldDescriptor
    type: pa.DataType


@dataclass(frozen=True, eq=False)
class Instant:
    """A google.protobuf.Timestamp as TIMESTAMP."""

    type: pa.DataType


@dataclass(frozen=True, eq=False)
class Wrapped:
    """A google.protobuf.*Value as the value that it wraps, or NULL."""

    value: ScalarValue

    @property
    def type(self) -> pa.DataType:
        """The column's type."""
        return self.value.type


@dataclass(frozen=True, eq=False)
class Struct:
    """A message."""

    message: Descriptor
    fields: tuple[MessageField, ...]
    type: pa.StructType


@dataclass(frozen=True, eq=False)
class RepeatedValue:
    """A repeated field."""

    element: Single
    type: pa.ListType


@dataclass(frozen=True, eq=False)
class MapValue:
    """A map field."""

    key: ScalarValue
    value: Single
    type: pa.MapType


Single = ScalarValue | EnumValue | Instant | Wrapped | Struct
Value = Single | RepeatedValue | MapValue


@dataclass(frozen=True, eq=False)
class MessageField:
    """A column, or a field of a nested struct.

    Attributes:
        proto: The field of the message.
        value: Its value.
        nullable: Whether it may be NULL.
        reads_default: Whether it is read as its default where a message lacks it, instead of as NULL.
    """

    proto: FieldDescriptor
    value: Value
    nullable: bool
    reads_default: bool

    @property
    def name(self) -> str:
        """The name of both the column and the protobuf field."""
        return str(self.proto.name)
