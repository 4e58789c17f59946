"""What databases differ in."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from millrace_catalog.sinks.columns import added
from millrace_catalog.sinks.table_sink import KEY
from millrace_catalog.types import (
    BYTES,
    STRING,
    Column,
    DataType,
    Scalar,
    Schema,
    timestamp,
    timestamp_ltz,
)

_STORED = {
    "CHAR": STRING,
    "VARCHAR": STRING,
    "BINARY": BYTES,
    "VARBINARY": BYTES,
    "TIME": STRING,
    "TIMESTAMP": timestamp(),
    "TIMESTAMP_LTZ": timestamp_ltz(),
    "TIMESTAMP_TZ": timestamp_ltz(),
    "VARIANT": STRING,
}
_SIZED = re.compile(r"(?P<name>[^()]+)(?:\((?P<size>\d+)(?:,\s*(?P<scale>\d+))?\))?(?P<more>.*)")


def nullable(type_: Scalar, is_nullable: bool = True) -> Scalar:
    """The same type, nullable or not."""
    return replace(type_, nullable=is_nullable)


class Dialect(ABC):
    """The SQL of a database.

    Attributes:
        driver: The class of its JDBC driver.
        package: Where the driver is, as ``spark.jars.packages`` has it.
        has_one_writer: Whether two transactions cannot write at once.
        makes_anew: Whether wider columns take a new table.
    """

    driver: ClassVar[str]
    package: ClassVar[str]
    has_one_writer: ClassVar[bool] = False
    makes_anew: ClassVar[bool] = False

    def stored(self, type_: DataType) -> Scalar:
        """The type as which a column holds values of a type; nested ones are JSON text."""
        found = _STORED.get(type_.kind, type_) if isinstance(type_, Scalar) else STRING
        return self.held_as(nullable(found, type_.nullable))

    def stored_schema(self, schema: Schema) -> Schema:
        """Columns with the types as which they are held."""
        return Schema(tuple(Column(column.name, self.stored(column.type)) for column in schema))

    @abstractmethod
    def held_as(self, type_: Scalar) -> Scalar:
        """The same, of a scalar type; those that the database lacks as others."""

    @abstractmethod
    def sql_type(self, type_: Scalar) -> str:
        """The database's name of a type of `held_as`."""

    @abstractmethod
    def type_of(self, name: str, sizes: tuple[int, ...]) -> Scalar | None:
        """The type of `held_as` that a name of the database means; None for one that is not known."""

    @abstractmethod
    def columns_query(self, table: str) -> str:
        """A query for the columns of a table, in order: their names, types, and whether they are NOT NULL (1 or 0).

        Args:
            table: The table's name, as the user gave it.

        It gives no rows when there is no table.
        """

    @abstractmethod
    def widening(self, table: str, before: Schema, after: Schema, zone: str) -> list[str]:
        """The statements that make columns wider, rows keeping their values.

        Args:
            table: The table's name, as the user gave it.
            before: Its columns, as held.
            after: The same columns in the same order.
            zone: The time zone in which a TIMESTAMP becomes a TIMESTAMP_LTZ.

        Raises:
            SchemaError: The database cannot.
        """

    def quoted(self, name: str) -> str:
        """The name of a column, quoted."""
        return '"' + name.replace('"', '""') + '"'

    def quoted_table(self, name: str) -> str:
        """The name of a table, quoted, with that of its schema before a dot, if it has one."""
        return ".".join(map(self.quoted, name.split(".")))

    def type_named(self, text: str) -> Scalar | None:
        """The type that a column's type means as the database shows it, such as ``numeric(10,2)``."""
        match = _SIZED.fullmatch(text.strip())
        if match is None:
            return None
        sizes = tuple(int(size) for size in (match["size"], match["scale"]) if size is not None)
        return self.type_of(f"{match['name'].strip()}{match['more']}".lower(), sizes)

    def create(self, table: str, schema: Schema) -> str:
        """The statement that makes a table of that name; `KEY` is its primary key."""
        columns = ", ".join(map(self.column, schema))
        return f"CREATE TABLE {self.quoted_table(table)} ({columns}, PRIMARY KEY ({', '.join(map(self.quoted, KEY))}))"

    def change(self, table: str, before: Schema, after: Schema, zone: str) -> list[str]:
        """The statements that make a table with the columns ``before`` one with those of ``after``."""
        known: Mapping[str, DataType] = before.types
        new = added(before, after)
        widened = Schema(tuple(column for column in after if column.name in known))
        statements = [] if widened == before else self.widening(table, before, widened, zone)
        return [
            *statements,
            *(f"ALTER TABLE {self.quoted_table(table)} ADD COLUMN {self.column(column)}" for column in new),
        ]

    def column(self, column: Column) -> str:
        """A column as statements define it."""
        assert isinstance(column.type, Scalar)  # noqa: S101 (what is held is)
        return f"{self.quoted(column.name)} {self.sql_type(column.type)}{'' if column.type.nullable else ' NOT NULL'}"
