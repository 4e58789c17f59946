"""Column types and schemas, named as in the reference's SQL; ``str`` of a type is its SQL text.

A TIMESTAMP has no time zone, as in the reference: Spark's TIMESTAMP is a TIMESTAMP_LTZ.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, TypeVar

from millrace_catalog.types.identifiers import find_duplicates, quote_name

Kind = Literal[
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INT",
    "BIGINT",
    "DECIMAL",
    "FLOAT",
    "DOUBLE",
    "CHAR",
    "VARCHAR",
    "STRING",
    "BINARY",
    "VARBINARY",
    "DATE",
    "TIME",
    "TIMESTAMP",
    "TIMESTAMP_LTZ",
    "TIMESTAMP_TZ",
    "VARIANT",
    "NULL",
]

MAX_LENGTH = 2**31 - 1
"""Length of BYTES, the longest VARBINARY; the longest VARCHAR is STRING."""

MAX_DIGITS = 38
"""Digits of the largest DECIMAL."""

MAX_PRECISION = 9
"""Maximum digits of a second's fraction."""


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A type without parts. Create types with a size by the functions of this module, which check it.

    Attributes:
        kind: The type's name. NULL is the type of a column that has held only nulls so far.
        size: Length of text or bytes, digits of a decimal, or digits of a second's fraction.
        scale: Digits of a decimal behind the point.
        nullable: Whether a value may be NULL.
    """

    kind: Kind
    size: int | None = None
    scale: int | None = None
    nullable: bool = True

    def __str__(self) -> str:
        return f"{self._name}{_suffix(self.nullable)}"

    @property
    def _name(self) -> str:
        if self.kind == "VARBINARY" and self.size == MAX_LENGTH:
            return "BYTES"
        sizes = ", ".join(str(number) for number in (self.size, self.scale) if number is not None)
        return f"{self.kind}({sizes})" if sizes else self.kind


@dataclass(frozen=True, slots=True)
class ArrayType:
    """A list whose elements have one type."""

    element: DataType
    nullable: bool = True

    def __str__(self) -> str:
        return f"ARRAY<{self.element}>{_suffix(self.nullable)}"


@dataclass(frozen=True, slots=True)
class MapType:
    """A map of keys to values."""

    key: DataType
    value: DataType
    nullable: bool = True

    def __str__(self) -> str:
        return f"MAP<{self.key}, {self.value}>{_suffix(self.nullable)}"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table or a field of a row."""

    name: str
    type: DataType

    def __str__(self) -> str:
        return f"{quote_name(self.name)} {self.type}"


@dataclass(frozen=True, slots=True, eq=False)
class RowType:
    """Named fields. Two rows are equal if they have the same fields in any order, since JSON objects have no order.

    Raises:
        ValueError: Two fields have the same name.
    """

    fields: tuple[Column, ...]
    nullable: bool = True

    def __post_init__(self) -> None:
        if duplicates := find_duplicates(field.name for field in self.fields):
            raise ValueError(
                f"expected each field of a ROW once, but {', '.join(map(quote_name, duplicates))} is repeated"
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RowType):
            return NotImplemented
        return self.nullable == other.nullable and self.types == other.types

    def __hash__(self) -> int:
        return hash((frozenset(self.fields), self.nullable))

    def __str__(self) -> str:
        return f"ROW<{', '.join(map(str, self.fields))}>{_suffix(self.nullable)}"

    @property
    def types(self) -> dict[str, DataType]:
        """Types of the fields by name."""
        return {field.name: field.type for field in self.fields}


DataType: TypeAlias = ScalarType | ArrayType | MapType | RowType
AnyType = TypeVar("AnyType", ScalarType, DataType)


@dataclass(frozen=True)
class Schema:
    """Columns in order, with unique names; ``str`` of a schema is the column list of a CREATE TABLE.

    Raises:
        ValueError: Two columns have the same name.
    """

    columns: tuple[Column, ...] = ()

    def __post_init__(self) -> None:
        if duplicates := find_duplicates(self.names):
            raise ValueError(f"expected each column once, but {', '.join(map(quote_name, duplicates))} is repeated")

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __str__(self) -> str:
        return ", ".join(map(str, self.columns))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def types(self) -> dict[str, DataType]:
        """Types of the columns by name, in order."""
        return {column.name: column.type for column in self.columns}


BOOLEAN = ScalarType("BOOLEAN")
TINYINT = ScalarType("TINYINT")
SMALLINT = ScalarType("SMALLINT")
INT = ScalarType("INT")
BIGINT = ScalarType("BIGINT")
FLOAT = ScalarType("FLOAT")
DOUBLE = ScalarType("DOUBLE")
STRING = ScalarType("STRING")
BYTES = ScalarType("VARBINARY", MAX_LENGTH)
DATE = ScalarType("DATE")
VARIANT = ScalarType("VARIANT")
NULL = ScalarType("NULL")


def with_nullability(type_: AnyType, nullable: bool) -> AnyType:
    """Return the same type, nullable or not."""
    return type_ if type_.nullable == nullable else replace(type_, nullable=nullable)


def count_columns(type_: DataType) -> int:
    """Count the columns that a type stands for: one for a value, one for each field of a row, however deep it is."""
    if isinstance(type_, ArrayType):
        return count_columns(type_.element)
    if isinstance(type_, MapType):
        return count_columns(type_.key) + count_columns(type_.value) - 1
    if isinstance(type_, RowType):
        return max(1, sum(count_columns(field.type) for field in type_.fields))
    return 1


def decimal(digits: int, scale: int = 0) -> ScalarType:
    """Make a DECIMAL of 1 to 38 digits, ``scale`` of them behind the point; ValueError for other numbers."""
    _check("digits of a DECIMAL", digits, 1, MAX_DIGITS)
    _check(f"scale of a DECIMAL of {digits} digits", scale, 0, digits)
    return ScalarType("DECIMAL", digits, scale)


def char(length: int) -> ScalarType:
    """Make a CHAR of a length in characters; ValueError for a length below 1 or beyond 31 bits."""
    return _of_length("CHAR", length)


def varchar(length: int) -> ScalarType:
    """Make a VARCHAR of a maximum length in characters, or STRING for the largest; ValueError as `char`."""
    return STRING if length == MAX_LENGTH else _of_length("VARCHAR", length)


def binary(length: int) -> ScalarType:
    """Make a BINARY of a length in bytes; ValueError as `char`."""
    return _of_length("BINARY", length)


def varbinary(length: int) -> ScalarType:
    """Make a VARBINARY of a maximum length in bytes; ValueError as `char`."""
    return _of_length("VARBINARY", length)


def time(precision: int = 0) -> ScalarType:
    """Make a TIME with 0 to 9 digits of a second's fraction; ValueError for other precisions."""
    return _of_precision("TIME", precision)


def timestamp(precision: int = 6) -> ScalarType:
    """Make a TIMESTAMP, a date and time without a time zone; precision as of `time`."""
    return _of_precision("TIMESTAMP", precision)


def timestamp_ltz(precision: int = 6) -> ScalarType:
    """Make a TIMESTAMP_LTZ, a point in time shown in the session's time zone; precision as of `time`."""
    return _of_precision("TIMESTAMP_LTZ", precision)


def timestamp_tz(precision: int = 6) -> ScalarType:
    """Make a TIMESTAMP_TZ, a point in time with a time zone of its own; precision as of `time`."""
    return _of_precision("TIMESTAMP_TZ", precision)


def _of_length(kind: Kind, length: int) -> ScalarType:
    _check(f"length of a {kind}", length, 1, MAX_LENGTH)
    return ScalarType(kind, length)


def _of_precision(kind: Kind, precision: int) -> ScalarType:
    _check(f"precision of a {kind}", precision, 0, MAX_PRECISION)
    return ScalarType(kind, precision)


def _check(what: str, number: int, low: int, high: int) -> None:
    if not low <= number <= high:
        raise ValueError(f"the {what} must be from {low} to {high}, not {number}")


def _suffix(nullable: bool) -> str:
    return "" if nullable else " NOT NULL"
