"""Avro schemas as a tree: parsed from JSON or derived from columns, and walked by readers and writers.

The types are those of https://avro.apache.org/docs/1.12.0/specification/.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

INT_MIN, INT_MAX = -(1 << 31), (1 << 31) - 1

UNKNOWN_PRECISION = 64
"""The precision that Confluent's converter writes for decimals that have none."""

DECIMAL_WITHOUT_SCALE = "decimal without a valid scale"
"""The name of a logical type that only its bytes can be read of."""


@dataclass(frozen=True)
class LogicalType:
    """The meaning of a type's bytes.

    Attributes:
        name: Avro's name, such as ``timestamp-millis``.
        precision: Digits of a decimal.
        scale: Digits of a decimal behind the point; zeros before it where negative.
    """

    name: str
    precision: int = 0
    scale: int = 0


@dataclass(frozen=True)
class ConnectType:
    """The type of Kafka Connect that a type was converted from, as Confluent's converter notes it.

    Attributes:
        name: Its name, such as ``io.debezium.time.Date``.
        kind: The type where Avro has no such one, such as ``int16``.
        parameters: Its parameters, such as the scale of a decimal.
    """

    name: str | None
    kind: str | None
    parameters: Mapping[str, str]


@dataclass(frozen=True)
class Primitive:
    """One of null, boolean, int, long, float, double, bytes and string.

    Types that differ in ``connect`` only are equal: their values are the same bytes.
    """

    kind: str
    logical: LogicalType | None = None
    connect: ConnectType | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Fixed:
    """A fixed number of bytes."""

    name: str
    size: int
    logical: LogicalType | None = None


@dataclass(frozen=True)
class AvroEnum:
    """One of some symbols; a reader takes ``default`` for a symbol that it does not know."""

    name: str
    symbols: tuple[str, ...]
    default: str | None = None


@dataclass(frozen=True)
class AvroArray:
    """A list of items."""

    items: AvroType


@dataclass(frozen=True)
class AvroMap:
    """Values by string keys."""

    values: AvroType


@dataclass(frozen=True)
class Union:
    """A value of one of several types; a nullable type is a union with null."""

    branches: tuple[AvroType, ...]


class NoDefault:
    """Marker for a field without a default, since null is a valid default."""


NO_DEFAULT = NoDefault()


@dataclass(frozen=True)
class RecordField:
    """A field of a record, with its former names as ``aliases``."""

    name: str
    type: AvroType
    default: Any = NO_DEFAULT
    aliases: tuple[str, ...] = ()

    @property
    def has_default(self) -> bool:
        """True if a reader can do without the field."""
        return self.default is not NO_DEFAULT


@dataclass(eq=False)
class Record:
    """Ordered fields, filled in after construction because a record may contain itself."""

    name: str
    fields: list[RecordField] = field(default_factory=list, repr=False)


AvroType = Primitive | Fixed | AvroEnum | AvroArray | AvroMap | Union | Record

NULL = Primitive("null")


def split_nullable(type_: AvroType) -> tuple[AvroType, int | None]:
    """Split a nullable type into the other type and the index of its null branch.

    Returns:
        The type itself and None if it is not nullable, or a union of several types beside null.
    """
    if isinstance(type_, Union) and len(type_.branches) == 2 and NULL in type_.branches:
        null = type_.branches.index(NULL)
        return type_.branches[1 - null], null
    return type_, None


def can_be_empty(type_: AvroType, parents: frozenset[int] = frozenset()) -> bool:
    """Tell whether a value of a type may take no bytes at all.

    Args:
        type_: The type.
        parents: Ids of the records that contain it.
    """
    if isinstance(type_, Record):
        inner = parents | {id(type_)}
        return all(id(field.type) not in inner and can_be_empty(field.type, inner) for field in type_.fields)
    if isinstance(type_, Fixed):
        return type_.size == 0
    return isinstance(type_, Primitive) and type_.kind == "null"


def describe_type(type_: AvroType) -> str:
    """Describe a type in a few words, for errors."""
    if isinstance(type_, Union):
        return "union of " + ", ".join(map(describe_type, type_.branches))
    if isinstance(type_, AvroArray):
        return f"array of {describe_type(type_.items)}"
    if isinstance(type_, AvroMap):
        return f"map of {describe_type(type_.values)}"
    if isinstance(type_, Record):
        return f"record {type_.name}"
    if isinstance(type_, AvroEnum):
        return f"enum {type_.name}"
    base = f"fixed({type_.size})" if isinstance(type_, Fixed) else type_.kind
    return f"{base} ({type_.logical.name})" if type_.logical else base


def branch_name(type_: AvroType) -> str:
    """Name a branch of a union as Avro's JSON encoding does."""
    if isinstance(type_, Primitive):
        return type_.kind
    if isinstance(type_, AvroArray):
        return "array"
    if isinstance(type_, AvroMap):
        return "map"
    return type_.name if isinstance(type_, Fixed | AvroEnum | Record) else "union"
