"""Avro schemas as a tree: what is parsed from JSON, or made from columns, and walked by readers and writers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Logical:
    """What the bytes of a type mean.

    Attributes:
        name: Avro's name, such as ``timestamp-millis``.
        precision: Of a decimal.
        scale: Of a decimal.
    """

    name: str
    precision: int = 0
    scale: int = 0


@dataclass(frozen=True)
class Scalar:
    """A type without a name and without parts: null, boolean, int, long, float, double, bytes, string."""

    kind: str
    logical: Logical | None = None


@dataclass(frozen=True)
class Fixed:
    """So many bytes."""

    name: str
    size: int
    logical: Logical | None = None


@dataclass(frozen=True)
class Enum:
    """One of some symbols; a reader takes ``default`` for a symbol that it does not have."""

    name: str
    symbols: tuple[str, ...]
    default: str | None = None


@dataclass(frozen=True)
class Array:
    """A list."""

    items: AvroType


@dataclass(frozen=True)
class Map:
    """Values by texts."""

    values: AvroType


@dataclass(frozen=True)
class Union:
    """A value of one of several types; what may be null is a union with null."""

    branches: tuple[AvroType, ...]


class NoDefault:
    """Stands for the default of a field that has none, since null is a default."""


NO_DEFAULT = NoDefault()


@dataclass(frozen=True)
class Field:
    """A field of a record; ``aliases`` are names that it had before."""

    name: str
    type: AvroType
    default: Any = NO_DEFAULT
    aliases: tuple[str, ...] = ()

    @property
    def has_default(self) -> bool:
        """Whether a reader can do without it."""
        return self.default is not NO_DEFAULT


@dataclass(eq=False)
class Record:
    """Fields by their order. It is filled after it is made, since it may hold itself."""

    name: str
    fields: list[Field] = field(default_factory=list, repr=False)


AvroType = Scalar | Fixed | Enum | Array | Map | Union | Record

NULL = Scalar("null")


def split_nullable(type_: AvroType) -> tuple[AvroType, int | None]:
    """What a type is where it is not null, and the branch that is null; None where it cannot be null.

    A union of more than one other type is returned as it is.
    """
    if isinstance(type_, Union) and len(type_.branches) == 2 and NULL in type_.branches:
        null = type_.branches.index(NULL)
        return type_.branches[1 - null], null
    return type_, None


def type_name(type_: AvroType) -> str:
    """A type in a few words, for errors."""
    if isinstance(type_, Union):
        return "union of " + ", ".join(map(type_name, type_.branches))
    if isinstance(type_, Array):
        return f"array of {type_name(type_.items)}"
    if isinstance(type_, Map):
        return f"map of {type_name(type_.values)}"
    if isinstance(type_, Record):
        return f"record {type_.name}"
    if isinstance(type_, Enum):
        return f"enum {type_.name}"
    base = f"fixed({type_.size})" if isinstance(type_, Fixed) else type_.kind
    return f"{base} ({type_.logical.name})" if type_.logical else base


def branch_name(type_: AvroType) -> str:
    """The name of a branch of a union, as the JSON encoding writes it."""
    if isinstance(type_, Scalar):
        return type_.kind
    if isinstance(type_, Array):
        return "array"
    if isinstance(type_, Map):
        return "map"
    return type_.name if isinstance(type_, Fixed | Enum | Record) else "union"
