"""The types of columns, as the reference's SQL names them; the text of a type is its SQL.

A TIMESTAMP has no time zone here, as in the reference; Spark's own TIMESTAMP is a TIMESTAMP_LTZ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from millrace_catalog.types.names import quoted, repeated

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
"""The length of a BYTES, which is the longest VARBINARY; the longest VARCHAR is a STRING."""

MAX_DIGITS = 38
"""The digits of the largest DECIMAL."""

MAX_PRECISION = 9
"""The most digits of a second's fraction."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A type that holds no other. Those with a size are made by the functions of this module, which check it.

    Attributes:
        kind: The type's name. NULL is the type of a value that has been null only.
        size: The length of text or bytes, the digits of a decimal or of a second's fraction.
        scale: Of a decimal, how many of its digits stand behind the point.
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
class Array:
    """A list of values of one type."""

    element: DataType
    nullable: bool = True

    def __str__(self) -> str:
        return f"ARRAY<{self.element}>{_suffix(self.nullable)}"


@dataclass(frozen=True, slots=True)
class Map:
    """Values by keys."""

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
        return f"{quoted(self.name)} {self.type}"


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """Fields by names. Rows are equal that have the same fields, in whichever order, since JSON's have none.

    Raises:
        ValueError: Two fields have the same name.
    """

    fields: tuple[Column, ...]
    nullable: bool = True

    def __post_init__(self) -> None:
        if twice := repeated(field.name for field in self.fields):
            raise ValueError(f"expected each field of a ROW once, but {', '.join(map(quoted, twice))} is repeated")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Row):
            return NotImplemented
        return self.nullable == other.nullable and self.types == other.types

    def __hash__(self) -> int:
        return hash((frozenset(self.fields), self.nullable))

    def __str__(self) -> str:
        return f"ROW<{', '.join(map(str, self.fields))}>{_suffix(self.nullable)}"

    @property
    def types(self) -> dict[str, DataType]:
        """The fields' types by name."""
        return {field.name: field.type for field in self.fields}


DataType: TypeAlias = Scalar | Array | Map | Row

BOOLEAN = Scalar("BOOLEAN")
TINYINT = Scalar("TINYINT")
SMALLINT = Scalar("SMALLINT")
INT = Scalar("INT")
BIGINT = Scalar("BIGINT")
FLOAT = Scalar("FLOAT")
DOUBLE = Scalar("DOUBLE")
STRING = Scalar("STRING")
BYTES = Scalar("VARBINARY", MAX_LENGTH)
DATE = Scalar("DATE")
VARIANT = Scalar("VARIANT")
NULL = Scalar("NULL")


def decimal(digits: int, scale: int = 0) -> Scalar:
    """A DECIMAL of 1 to 38 digits, ``scale`` of them behind the point; ValueError for other numbers."""
    _check("digits of a DECIMAL", digits, 1, MAX_DIGITS)
    _check(f"scale of a DECIMAL of {digits} digits", scale, 0, digits)
    return Scalar("DECIMAL", digits, scale)


def char(length: int) -> Scalar:
    """Text of a length in characters; ValueError for a length below 1 or beyond 31 bits."""
    return _of_length("CHAR", length)


def varchar(length: int) -> Scalar:
    """Text of up to a length in characters, of the largest length a STRING; ValueError as `char`."""
    return STRING if length == MAX_LENGTH else _of_length("VARCHAR", length)


def binary(length: int) -> Scalar:
    """Bytes of a length; ValueError as `char`."""
    return _of_length("BINARY", length)


def varbinary(length: int) -> Scalar:
    """Bytes of up to a length; ValueError as `char`."""
    return _of_length("VARBINARY", length)


def time(precision: int = 0) -> Scalar:
    """A time of day with up to 9 digits of a second's fraction; ValueError for other numbers of them."""
    return _of_precision("TIME", precision)


def timestamp(precision: int = 6) -> Scalar:
    """A date and time without a time zone; digits as of `time`."""
    return _of_precision("TIMESTAMP", precision)


def timestamp_ltz(precision: int = 6) -> Scalar:
    """A point in time, shown in the session's time zone; digits as of `time`."""
    return _of_precision("TIMESTAMP_LTZ", precision)


def timestamp_tz(precision: int = 6) -> Scalar:
    """A point in time with a time zone of its own; digits as of `time`."""
    return _of_precision("TIMESTAMP_TZ", precision)


def _of_length(kind: Kind, length: int) -> Scalar:
    _check(f"length of a {kind}", length, 1, MAX_LENGTH)
    return Scalar(kind, length)


def _of_precision(kind: Kind, precision: int) -> Scalar:
    _check(f"precision of a {kind}", precision, 0, MAX_PRECISION)
    return Scalar(kind, precision)


def _check(what: str, number: int, low: int, high: int) -> None:
    if not low <= number <= high:
        raise ValueError(f"the {what} must be from {low} to {high}, not {number}")


def _suffix(nullable: bool) -> str:
    return "" if nullable else " NOT NULL"
