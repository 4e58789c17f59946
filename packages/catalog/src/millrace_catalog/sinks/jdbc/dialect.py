"""Differences between the SQL of databases."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Literal, NamedTuple

from millrace.table_names import split_names
from millrace_catalog.sinks.columns import new_columns
from millrace_catalog.types import (
    BYTES,
    STRING,
    Column,
    DataType,
    ScalarType,
    Schema,
    timestamp,
    timestamp_ltz,
    with_nullability,
)

_STORED_TYPES = {
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
BytesText = Literal["base64", "hex"]
ROWS = "r"
"""The name of the rows of `SqlDialect.rows` in a statement."""

_SQL_TYPE = re.compile(r"(?P<name>[^()]+)(?:\((?P<size>\d+)(?:,\s*(?P<scale>\d+))?\))?(?P<more>.*)")


def stored_scalar(type_: DataType) -> ScalarType:
    """Return the type of a stored column, which is always a scalar one: see `SqlDialect.stored`."""
    assert isinstance(type_, ScalarType)  # noqa: S101
    return type_


class RowColumn(NamedTuple):
    """A column of rows that a statement gets as JSON.

    Attributes:
        name: Its name, in the rows and in the table.
        type: The type of its values in the rows.
        stored: The type of the table's column.
    """

    name: str
    type: DataType
    stored: ScalarType

    @property
    def is_json(self) -> bool:
        """True for a column that stores the JSON of its values as text."""
        return self.stored.kind == "STRING" and (not isinstance(self.type, ScalarType) or self.type.kind == "VARIANT")

    @property
    def is_bytes(self) -> bool:
        """True for a column of bytes, whose text the rows have."""
        return self.stored.kind == "VARBINARY"


class SqlDialect(ABC):
    """SQL of a database.

    Attributes:
        driver: Class of the JDBC driver.
        package: Maven coordinates of the driver, for ``spark.jars.packages``.
        has_one_writer: Whether only one transaction can write at a time.
        rebuilds_table: Whether wider columns require a new table.
        has_schemas: Whether tables are in schemas.
        has_nul: Whether a text may have the character U+0000.
        bytes_text: The text of bytes in rows that statements get as JSON.
        reads_decimals_inexactly: Whether the digits of a DOUBLE may be read as a neighbour of the nearest value.
        max_name_bytes: The longest name of a table or column, in bytes of UTF-8; None for any.
    """

    driver: ClassVar[str]
    package: ClassVar[str]
    has_one_writer: ClassVar[bool] = False
    rebuilds_table: ClassVar[bool] = False
    has_schemas: ClassVar[bool] = True
    has_nul: ClassVar[bool] = True
    bytes_text: ClassVar[BytesText] = "base64"
    reads_decimals_inexactly: ClassVar[bool] = False
    max_name_bytes: ClassVar[int | None] = None

    def stored(self, type_: DataType) -> ScalarType:
        """Return the type of a column that stores values of a type; nested types are JSON text."""
        stored = _STORED_TYPES.get(type_.kind, type_) if isinstance(type_, ScalarType) else STRING
        return self.storage_type(with_nullability(stored, type_.nullable))

    def stored_schema(self, schema: Schema) -> Schema:
        """Return columns with the types that store them."""
        return Schema(tuple(Column(column.name, self.stored(column.type)) for column in schema))

    @abstractmethod
    def refuses_table(self, state: str | None, code: int) -> bool:
        """Return whether an error of a statement says that its table is to blame, not the database or the connection.

        Args:
            state: The state of the error, as of the standard of SQL; None where the driver has none.
            code: Its number.
        """

    @abstractmethod
    def is_transient(self, state: str | None, code: int) -> bool:
        """Return whether an error says that the same may succeed later: the database is away, or busy.

        Args:
            state: The state of the error, as for `refuses_table`.
            code: Its number.
        """

    @abstractmethod
    def lacks_unique_key(self, state: str | None, reason: str) -> bool:
        """Return whether an error says that the table has no unique constraint on the key that rows are replaced by.

        Args:
            state: The state of the error, as for `refuses_table`.
            reason: Its text.
        """

    @abstractmethod
    def storage_type(self, type_: ScalarType) -> ScalarType:
        """Return the type that stores a scalar type, another one where the database lacks it."""

    @abstractmethod
    def sql_type(self, type_: ScalarType) -> str:
        """Return the database's name of a type of `storage_type`."""

    @abstractmethod
    def type_of(self, name: str, sizes: tuple[int, ...]) -> ScalarType | None:
        """Return the type of `storage_type` for a name of the database; None when it is not supported."""

    @abstractmethod
    def columns_query(self, table: str) -> str:
        """Return a query for the columns of a table, in order: name, type, and whether it is NOT NULL (1 or 0).

        The query has no rows when the table does not exist.

        Args:
            table: Name of the table, as the user gave it.
        """

    @abstractmethod
    def widening(self, table: str, before: Schema, after: Schema, primary_key: Sequence[str], zone: str) -> list[str]:
        """Return the statements that widen columns and keep the values of rows.

        Args:
            table: Name of the table, as the user gave it.
            before: Columns as stored.
            after: The same columns, widened, in the same order.
            primary_key: The columns of the table's primary key.
            zone: Time zone in which a TIMESTAMP becomes a TIMESTAMP_LTZ.

        Raises:
            SchemaError: The database cannot widen a column.
        """

    @abstractmethod
    def rows(self, columns: Sequence[RowColumn]) -> str:
        """Return a table expression named `ROWS` over a parameter: rows as an array of JSON objects."""

    @abstractmethod
    def value(self, column: RowColumn) -> str:
        """Return an expression for the value of a column of `rows`, of the type that the table stores."""

    @abstractmethod
    def missing_schema(self, schema: str) -> str | None:
        """Return a query that has a row when there is no such schema; None where tables are in none."""

    def quote(self, name: str) -> str:
        """Quote the name of a column."""
        return '"' + name.replace('"', '""') + '"'

    def quote_table(self, name: str) -> str:
        """Quote the name of a table, and that of its schema before a dot, if it has one."""
        return ".".join(map(self.quote, split_names(name)))

    def parse_sql_type(self, text: str) -> ScalarType | None:
        """Parse a type as the database shows it, such as ``numeric(10,2)``; None when it is not supported."""
        match = _SQL_TYPE.fullmatch(text.strip())
        if match is None:
            return None
        sizes = tuple(int(size) for size in (match["size"], match["scale"]) if size is not None)
        return self.type_of(f"{match['name'].strip()}{match['more']}".lower(), sizes)

    def create(self, table: str, schema: Schema, primary_key: Sequence[str]) -> str:
        """Return the statement that creates a table; without a primary key where it names no column."""
        columns = list(map(self.column, schema))
        if primary_key:
            columns.append(f"PRIMARY KEY ({self.names(primary_key)})")
        return f"CREATE TABLE {self.quote_table(table)} ({', '.join(columns)})"

    def change(self, table: str, before: Schema, after: Schema, primary_key: Sequence[str], zone: str) -> list[str]:
        """Return the statements that change the columns of a table from ``before`` to ``after``."""
        types: Mapping[str, DataType] = before.types
        added = new_columns(before, after)
        widened = Schema(tuple(column for column in after if column.name in types))
        statements = [] if widened == before else self.widening(table, before, widened, primary_key, zone)
        return [
            *statements,
            *(f"ALTER TABLE {self.quote_table(table)} ADD COLUMN {self.column(column)}" for column in added),
        ]

    def names(self, names: Iterable[str]) -> str:
        """Quote the names of columns, and separate them by commas."""
        return ", ".join(map(self.quote, names))

    def column(self, column: Column) -> str:
        """Return the definition of a column in a statement."""
        not_null = "" if column.type.nullable else " NOT NULL"
        return f"{self.quote(column.name)} {self.sql_type(stored_scalar(column.type))}{not_null}"
