"""Plans of reading: a tree from a writer's schema to columns, which the fast and the exact readers are built from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from millrace_formats.avro.reader.conversions import Conversion
from millrace_formats.avro.schema.model import AvroArray, AvroEnum, AvroMap, AvroType, Fixed, Primitive, Record, Union


@dataclass(frozen=True)
class SkipPlan:
    """Pass over a value that no column asks for."""

    writer: AvroType


@dataclass(frozen=True)
class NullPlan:
    """Read the writer's null as NULL."""

    writer: Primitive
    type: pa.DataType


@dataclass(frozen=True)
class UnreadablePlan:
    """Refuse messages with a value that cannot be read into its column."""

    writer: AvroType
    type: pa.DataType
    reason: str


@dataclass(frozen=True)
class ScalarPlan:
    """Read a value without parts."""

    writer: Primitive | Fixed | AvroEnum
    type: pa.DataType
    conversion: Conversion


@dataclass(frozen=True)
class ListPlan:
    """Read an array into a list."""

    writer: AvroArray
    type: pa.ListType
    item: ReadPlan

    @property
    def field(self) -> pa.Field:
        """The Arrow field of the items."""
        return self.type.value_field


@dataclass(frozen=True)
class MapPlan:
    """Read a map."""

    writer: AvroMap
    type: pa.MapType
    value: ReadPlan

    @property
    def field(self) -> pa.Field:
        """The Arrow field of the values."""
        return self.type.item_field


@dataclass(frozen=True)
class TextMapPlan:
    """Read a record as a map from the names of its fields to their texts; fields with parts are left out.

    Attributes:
        writer: The record.
        type: The map's type.
        parts: For each field of the record the plan of its text, or a `SkipPlan`.
    """

    writer: Record
    type: pa.MapType
    parts: tuple[ReadPlan, ...]


@dataclass(frozen=True)
class UnionPlan:
    """Read a union by the plan of the branch that a message has."""

    writer: Union
    type: pa.DataType
    branches: tuple[ReadPlan, ...]


@dataclass(frozen=True)
class RecordPlan:
    """Read a record into a struct, or a row.

    Attributes:
        writer: The record.
        fields: The columns.
        parts: For each field of the record its plan and the index of its column; None where no column asks for it.
        defaults: The values of the columns that the record has no field for, by index.
    """

    writer: Record
    fields: tuple[pa.Field, ...]
    parts: tuple[tuple[ReadPlan, int | None], ...]
    defaults: dict[int, Any] = field(default_factory=dict)

    @property
    def type(self) -> pa.DataType:
        """The struct's type."""
        return pa.struct(self.fields)


ReadPlan = SkipPlan | NullPlan | UnreadablePlan | ScalarPlan | ListPlan | MapPlan | TextMapPlan | UnionPlan | RecordPlan
