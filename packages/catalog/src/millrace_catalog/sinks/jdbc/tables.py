"""Tables of a database: create them, and let their columns follow those of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from millrace.errors import OptionsError, SchemaError
from millrace.table_names import split_names
from millrace_catalog.sinks.columns import check_case, widen_sink
from millrace_catalog.sinks.jdbc.dialect import SqlDialect
from millrace_catalog.sinks.jdbc.postgresql import PostgreSQL
from millrace_catalog.sinks.jdbc.sqlite import SQLite
from millrace_catalog.types import STRING, Column, Schema, with_nullability
from millrace_catalog.types.identifiers import quote_name

if TYPE_CHECKING:
    from millrace_catalog.sinks.jdbc.database import Connection

_DIALECTS: dict[str, type[SqlDialect]] = {"jdbc:sqlite:": SQLite, "jdbc:postgresql:": PostgreSQL}


class DatabaseTable:
    """A table of a database.

    Args:
        dialect: Dialect of the database.
        name: Name of the table, prefixed with that of its schema and a dot unless it is in the default schema.
        label: Words for the table in errors.
    """

    def __init__(self, dialect: SqlDialect, name: str, label: str) -> None:
        self._dialect = dialect
        self.name = name
        self._label = label

    def fit(self, connection: Connection, columns: Schema, primary_key: Sequence[str], zone: str) -> Schema:
        """Create the table, or change it to hold these columns, in the connection's transaction.

        Missing columns are added at the end, nullable; narrower ones become as wide as needed, and their rows keep
        their values.

        Args:
            connection: A connection.
            columns: The columns of rows.
            primary_key: The primary key of a table that is created; none where it is empty.
            zone: Time zone in which a TIMESTAMP becomes a TIMESTAMP_LTZ.

        Returns:
            The table's columns, with the types that store them.

        Raises:
            SchemaError: The database cannot have the columns.
        """
        required = self._dialect.stored_schema(columns)
        check_case(required.names, self._label)
        self._check_names(required.names)
        current = self.stored_columns(connection, required.names)
        if current is None:
            self._create_schema(connection)
            connection.execute(self._dialect.create(self.name, required, primary_key))
            return required
        after = self._widened(current, required)
        for statement in self._dialect.change(self.name, current, after, primary_key, zone):
            connection.execute(statement)
        return after

    def stored_columns(self, connection: Connection, required: Sequence[str]) -> Schema | None:
        """Read the columns whose types are supported, which required ones must be; None when there is no table.

        Raises:
            SchemaError: The type of a required column is not supported.
        """
        columns = []
        rows = connection.query(self._dialect.columns_query(self.name), 3)
        for name, sql_type, not_null in rows:
            type_ = self._dialect.parse_sql_type(str(sql_type))
            if type_ is not None:
                columns.append(Column(str(name), with_nullability(type_, not_null != "1")))
            elif name in required or self._dialect.rebuilds_table:
                raise SchemaError(
                    f"{self._label} has column {quote_name(str(name))} of type {sql_type!r}, which is not supported: "
                    f"change it to {self._dialect.sql_type(STRING)}, or give another table"
                )
        return Schema(tuple(columns)) if rows else None

    def _widened(self, current: Schema, required: Schema) -> Schema:
        after = self._dialect.stored_schema(widen_sink(current, required, self._label))
        types = current.types
        # NOT NULL columns stay NOT NULL
        return Schema(
            tuple(
                Column(
                    column.name,
                    with_nullability(column.type, types[column.name].nullable if column.name in types else True),
                )
                for column in after
            )
        )

    def _check_names(self, columns: Sequence[str]) -> None:
        most = self._dialect.max_name_bytes
        for name in (*split_names(self.name), *columns):
            if most is not None and len(name.encode()) > most:
                raise SchemaError(
                    f"{self._label}: {quote_name(name)} is too long for a name of {type(self._dialect).__name__}, "
                    f"which has at most {most} bytes: give it another one"
                )

    def _create_schema(self, connection: Connection) -> None:
        *schema, _ = split_names(self.name)
        query = self._dialect.missing_schema(schema[-1]) if schema else None
        if query is not None and connection.query(query, 1):
            connection.execute(f"CREATE SCHEMA {self._dialect.quote(schema[-1])}")


def dialect_of(url: str) -> SqlDialect:
    """Return the dialect of the database that a JDBC URL leads to.

    Raises:
        OptionsError: It is not supported.
    """
    for start, dialect in _DIALECTS.items():
        if url.startswith(start):
            return dialect()
    kind = ":".join(url.split(":")[:2])
    raise OptionsError(
        "sink",
        (
            f"database {kind} is not supported: expected a URL that begins with {' or '.join(_DIALECTS)}; subclass "
            f"TableSink for another database",
        ),
    )
