"""Read tables of a database by Python's own drivers: psycopg for PostgreSQL, and sqlite3."""

from __future__ import annotations

import base64
import re
import sqlite3
import urllib.parse
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

from millrace.errors import MachineError, OptionsError
from millrace.table_names import join_names, split_names
from millrace_catalog.sinks.jdbc.dialect import SqlDialect
from millrace_catalog.sinks.jdbc.postgresql import PostgreSQL
from millrace_catalog.sinks.jdbc.sqlite import SQLite
from millrace_catalog.sinks.table_sink import TableSinkError
from millrace_catalog.types import BIGINT, STRING, Column, ScalarType, Schema

_SQLITE, _POSTGRESQL = "jdbc:sqlite:", "jdbc:postgresql:"
_FETCHED_ROWS = 1_000
_TIME = "YYYY-MM-DD HH24:MI:SS.US"


@dataclass(frozen=True)
class SourceTable:
    """A table of a database.

    Attributes:
        id: Its id.
        schema: Its columns.
        primary_key: The columns of its primary key.
        native_types: The database's types of its columns, by name.
    """

    id: str
    schema: Schema
    primary_key: tuple[str, ...]
    native_types: Mapping[str, str]


@dataclass(frozen=True)
class Login:
    """The way to a database; plain data that travels to executors.

    Attributes:
        url: Its JDBC URL.
        username: The user who connects.
        password: The user's password.
    """

    url: str
    username: str | None = None
    password: str | None = None

    def __repr__(self) -> str:
        return re.sub(r"//[^/@]*@", "//", re.split("[?;]", self.url, maxsplit=1)[0])


class DatabaseReader(ABC):
    """Reader of a database's tables.

    Args:
        connection: A connection of a driver.
    """

    dialect: SqlDialect

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    @abstractmethod
    def names(self) -> list[str]:
        """Return the ids of all tables."""

    @abstractmethod
    def _primary_key(self, table: str) -> tuple[str, ...]: ...

    @abstractmethod
    def _type(self, native: str) -> ScalarType:
        """Return the type of a column by the database's name of it; STRING where there is no such type."""

    @abstractmethod
    def _read_expression(self, column: Column, native: str) -> str:
        """Return an expression for a column's value as JSON can have it."""

    @abstractmethod
    def _position(self, native: str) -> str:
        """Return what stands for a position in a condition, such as a parameter that is cast to a type."""

    def table(self, table: str) -> SourceTable | None:
        """Look up a table; None where there is none."""
        native_types = [(str(name), str(type_)) for name, type_, _ in self.query(self.dialect.columns_query(table))]
        if not native_types:
            return None
        columns = tuple(Column(name, self._type(type_)) for name, type_ in native_types)
        return SourceTable(table, Schema(columns), self._primary_key(table), dict(native_types))

    def newest(self, table: SourceTable, column: str) -> Any:
        """Return the greatest value of a column, as a position; None where there is none."""
        name = self.dialect.quote(column)
        value = self._as_position(f"max({name})")
        ((newest,),) = self.query(f"SELECT {value} FROM {self.dialect.quote_table(table.id)}")  # noqa: S608 (quoted)
        return newest

    def rows(
        self, table: SourceTable, column: str | None = None, after: Any = None, until: Any = None
    ) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Yield the positions and rows of a table, ordered by position and key.

        Args:
            table: The table.
            column: The column of positions; None for all rows in any order.
            after: The position of the first rows; None for all of them, also those without one.
            until: The position of the last rows; None for no end.
        """
        quote = self.dialect.quote
        values = ", ".join(self._read_expression(field, table.native_types[field.name]) for field in table.schema)
        position, conditions, parameters, order = "NULL", [], [], ""
        if column is not None:
            name, stands = quote(column), self._position(table.native_types[column])
            position = self._as_position(name)
            for operator, bound in ((">=", after), ("<=", until)):
                if bound is not None:
                    conditions.append(f"{name} {operator} {stands}")
                    parameters.append(bound)
            order = " ORDER BY " + ", ".join([name, *map(quote, table.primary_key)])
        where = " AND ".join(conditions)
        if where:
            where = f" WHERE {where}" if after is not None or column is None else f" WHERE ({where}) OR {name} IS NULL"
        text = f"SELECT {position}, {values} FROM {self.dialect.quote_table(table.id)}{where}{order}"  # noqa: S608
        names = table.schema.names
        for row_position, *row in self.query(text, parameters):
            yield row_position, {key: _json_value(value) for key, value in zip(names, row, strict=True)}

    def query(self, text: str, parameters: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query."""
        with closing(self._cursor()) as cursor:
            cursor.execute(text, tuple(parameters))
            while rows := cursor.fetchmany(_FETCHED_ROWS):
                yield from rows

    def _cursor(self) -> Any:
        return self._connection.cursor()

    @abstractmethod
    def _as_position(self, expression: str) -> str:
        """Return an expression for a value as a position, which JSON can have."""


class _SqliteReader(DatabaseReader):
    dialect = SQLite()

    def names(self) -> list[str]:
        tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
        return [join_names([name]) for (name,) in self.query(tables)]

    def _primary_key(self, table: str) -> tuple[str, ...]:
        text = "SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk"
        return tuple(name for (name,) in self.query(text, split_names(table)))

    def _type(self, native: str) -> ScalarType:
        type_ = self.dialect.parse_sql_type(native) or STRING
        # All of its integers have 64 bits
        return BIGINT if type_.kind in ("TINYINT", "SMALLINT", "INT") else type_

    def _read_expression(self, column: Column, native: str) -> str:
        name = self.dialect.quote(column.name)
        return f"CAST({name} AS TEXT)" if column.type == STRING else name

    def _position(self, native: str) -> str:
        return "?"

    def _as_position(self, expression: str) -> str:
        return expression


class _PostgresReader(DatabaseReader):
    dialect = PostgreSQL()

    def names(self) -> list[str]:
        return [
            join_names(names)
            for names in self.query(
                "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
                "WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname !~ '^(pg_|information_schema$)' "
                "ORDER BY 1, 2"
            )
        ]

    def _primary_key(self, table: str) -> tuple[str, ...]:
        text = (
            "SELECT a.attname FROM pg_index i "
            "JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey) "
            "WHERE i.indrelid = to_regclass(%s) AND i.indisprimary ORDER BY array_position(i.indkey::int2[], a.attnum)"
        )
        return tuple(name for (name,) in self.query(text, (self.dialect.quote_table(table),)))

    def _type(self, native: str) -> ScalarType:
        return self.dialect.parse_sql_type(native) or STRING

    def _read_expression(self, column: Column, native: str) -> str:
        name, kind = self.dialect.quote(column.name), self._type(native).kind
        if kind == "TIMESTAMP_LTZ":
            return f"to_char({name} AT TIME ZONE 'UTC', '{_TIME}') || 'Z'"
        if kind == "TIMESTAMP":
            return f"to_char({name}, '{_TIME}')"
        return name if kind in _PLAIN else f"{name}::text"

    def _position(self, native: str) -> str:
        return f"%s::{native}"

    def _as_position(self, expression: str) -> str:
        return f"({expression})::text"

    def _cursor(self) -> Any:
        # On the server's side, so that a large table is not in memory
        return self._connection.cursor("millrace")


_PLAIN = {"BOOLEAN", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "VARBINARY"}


def _json_value(value: Any) -> Any:
    return base64.b64encode(value).decode() if isinstance(value, bytes | memoryview) else value


def dialect_name(url: str) -> str:
    """Return ``sqlite`` or ``postgresql``.

    Raises:
        OptionsError: The URL is of another database.
    """
    for prefix in (_SQLITE, _POSTGRESQL):
        if url.startswith(prefix):
            return prefix.split(":")[1]
    raise OptionsError("source", (f"option 'url': expected {_POSTGRESQL}//host/database or {_SQLITE}/path/of/file",))


@contextmanager
def table_reader(login: Login) -> Iterator[DatabaseReader]:
    """Connect to a database for a ``with`` block, in a transaction that writes nothing.

    Raises:
        MachineError: The driver is not installed.
        TableSinkError: The database could not be reached, or refused.
    """
    with _sqlite_reader(login) if dialect_name(login.url) == "sqlite" else _postgres_reader(login) as reader:
        yield reader


@contextmanager
def _sqlite_reader(login: Login) -> Iterator[DatabaseReader]:
    path = urllib.parse.quote(login.url.removeprefix(_SQLITE))
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            yield _SqliteReader(connection)
    except sqlite3.Error as error:
        raise TableSinkError(f"{login!r} could not be read: {error}") from None


@contextmanager
def _postgres_reader(login: Login) -> Iterator[DatabaseReader]:
    try:
        import psycopg
    except ImportError:
        raise MachineError("PostgreSQL is read by psycopg: pip install 'millrace-cdc[postgresql]'") from None
    credentials = {
        name: text for name, text in (("user", login.username), ("password", login.password)) if text is not None
    }
    # Positions are texts, which must be the same from each connection
    settings = "-c TimeZone=UTC -c DateStyle=ISO -c default_transaction_read_only=on"
    try:
        with psycopg.connect(login.url.removeprefix("jdbc:"), options=settings, **credentials) as connection:
            yield _PostgresReader(connection)
    except psycopg.Error as error:
        raise TableSinkError(f"{login!r} could not be read: {str(error).splitlines()[0]}") from None
