"""How messages of one schema become rows of another: a tree that both readers are made from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from millrace_formats.avro.conversion import Conversion
from millrace_formats.avro.model import Array, AvroType, Enum, Fixed, Map, Record, Scalar, Union


@dataclass(frozen=True)
class Skip:
    """What no column asks for: it is passed over."""

    writer: AvroType


@dataclass(frozen=True)
class Null:
    """Nothing, where the writer has null."""

    writer: Scalar
    type: pa.DataType


@dataclass(frozen=True)
class Unreadable:
    """What cannot be read into its column: an error for a message that has it."""

    writer: AvroType
    type: pa.DataType
    reason: str


@dataclass(frozen=True)
class Value:
    """A value that holds no other."""

    writer: Scalar | Fixed | Enum
    type: pa.DataType
    conversion: Conversion


@dataclass(frozen=True)
class Items:
    """A list."""

    writer: Array
    type: pa.ListType
    item: Plan

    @property
    def field(self) -> pa.Field:
        """The column of the items."""
        return self.type.value_field


@dataclass(frozen=True)
class Pairs:
    """A map."""

    writer: Map
    type: pa.MapType
    value: Plan

    @property
    def field(self) -> pa.Field:
        """The column of the values."""
        return self.type.item_field


@dataclass(frozen=True)
class Texts:
    """A record as a map: the names of its fields, and the text of those that hold no others.

    Attributes:
        writer: The record.
        parts: For each field how it is read: as text, or not at all.
    """

    writer: Record
    type: pa.MapType
    parts: tuple[Plan, ...]


@dataclass(frozen=True)
class Choice:
    """One of several: the plan of the branch that the message has."""

    writer: Union
    type: pa.DataType
    branches: tuple[Plan, ...]


@dataclass(frozen=True)
class Rows:
    """A struct, or a row.

    Attributes:
        writer: The record.
        fields: The columns.
        parts: For each field of the record its plan, and the column that it is for; None where no column asks for it.
        defaults: The values of the columns that the record has no field for.
    """

    writer: Record
    fields: tuple[pa.Field, ...]
    parts: tuple[tuple[Plan, int | None], ...]
    defaults: dict[int, Any] = field(default_factory=dict)

    @property
    def type(self) -> pa.DataType:
        """The struct's type."""
        return pa.struct(self.fields)


Plan = Skip | Null | Unreadable | Value | Items | Pairs | Texts | Choice | Rows
