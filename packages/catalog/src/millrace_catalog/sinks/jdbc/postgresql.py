"""SQL of PostgreSQL, https://www.postgresql.org/docs/current/datatype.html."""

from __future__ import annotations

import re
from collections.abc import Sequence

from millrace_catalog.sinks.jdbc.dialect import ROWS, RowColumn, SqlDialect, stored_scalar
from millrace_catalog.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    DataType,
    ScalarType,
    Schema,
    decimal,
    timestamp,
    timestamp_ltz,
    with_nullability,
)
from millrace_catalog.types.model import MAX_DIGITS, Kind

_CLASSES_OF_TABLES = {"0A", "22", "23", "2B", "42", "44", "P0"}
"""https://www.postgresql.org/docs/current/errcodes-appendix.html"""

_TRANSIENT_CLASSES = {"08", "40", "53", "57"}
"""Connections, conflicts of transactions, resources, and shutdowns."""

_LOCK_NOT_AVAILABLE, _INVALID_COLUMN_REFERENCE = "55P03", "42P10"

_SQL_NAMES: dict[Kind, str] = {
    "BOOLEAN": "boolean",
    "SMALLINT": "smallint",
    "INT": "integer",
    "BIGINT": "bigint",
    "FLOAT": "real",
    "DOUBLE": "double precision",
    "STRING": "text",
    "VARBINARY": "bytea",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
    "TIMESTAMP_LTZ": "timestamp with time zone",
}
_TYPES: dict[str, ScalarType] = {
    "boolean": BOOLEAN,
    "smallint": SMALLINT,
    "integer": INT,
    "bigint": BIGINT,
    "real": FLOAT,
    "double precision": DOUBLE,
    "text": STRING,
    "character varying": STRING,
    "bytea": BYTES,
    "date": DATE,
    "timestamp without time zone": timestamp(),
    "timestamp with time zone": timestamp_ltz(),
}
_OFFSET = re.compile(r"[+-]\d\d:\d\d")
_TIME = "YYYY-MM-DD HH24:MI:SS.US"
_UTC = "'UTC'"


class PostgreSQL(SqlDialect):
    """PostgreSQL: one ALTER TABLE widens all columns."""

    driver = "org.postgresql.Driver"
    package = "org.postgresql:postgresql:42.7.7"
    has_nul = False
    max_name_bytes = 63

    def refuses_table(self, state: str | None, code: int) -> bool:
        """Return whether it is of one of the classes of data, constraints, rights and unknown names."""
        return state is not None and state[:2] in _CLASSES_OF_TABLES

    def is_transient(self, state: str | None, code: int) -> bool:
        """Return whether it is of one of the classes of connections, conflicts, resources and shutdowns."""
        return state is not None and (state[:2] in _TRANSIENT_CLASSES or state == _LOCK_NOT_AVAILABLE)

    def lacks_unique_key(self, state: str | None, reason: str) -> bool:
        """Return whether a reference of ON CONFLICT is invalid."""
        return state == _INVALID_COLUMN_REFERENCE and "ON CONFLICT" in reason

    def storage_type(self, type_: ScalarType) -> ScalarType:
        """Return the type itself; SMALLINT for TINYINT."""
        return with_nullability(SMALLINT, type_.nullable) if type_.kind == "TINYINT" else type_

    def sql_type(self, type_: ScalarType) -> str:
        """Return PostgreSQL's name of a type."""
        return f"numeric({type_.size}, {type_.scale})" if type_.kind == "DECIMAL" else _SQL_NAMES[type_.kind]

    def type_of(self, name: str, sizes: tuple[int, ...]) -> ScalarType | None:
        """Return the type that PostgreSQL shows for a column."""
        if name == "numeric" and sizes and sizes[0] <= MAX_DIGITS:
            return decimal(*sizes)
        return _TYPES.get(name)

    def columns_query(self, table: str) -> str:
        """Read names and types from the system catalog."""
        name = self.quote_table(table).replace("'", "''")
        columns = "attname, format_type(atttypid, atttypmod), CASE WHEN attnotnull THEN 1 ELSE 0 END"
        where = f"attrelid = to_regclass('{name}') AND attnum > 0 AND NOT attisdropped"
        return f"SELECT {columns} FROM pg_attribute WHERE {where} ORDER BY attnum"  # noqa: S608 (quoted)

    def widening(self, table: str, before: Schema, after: Schema, primary_key: Sequence[str], zone: str) -> list[str]:
        """Return one statement for all columns, so that rows are rewritten once."""
        types = before.types
        changes = []
        for column in after:
            old, new = (with_nullability(type_, True) for type_ in (types[column.name], column.type))
            if old != new:
                name, value = self.quote(column.name), self._cast(column.name, old, new, zone)
                changes.append(f"ALTER COLUMN {name} TYPE {self.sql_type(stored_scalar(new))} USING {value}")
        return [f"ALTER TABLE {self.quote_table(table)} {', '.join(changes)}"]

    def rows(self, columns: Sequence[RowColumn]) -> str:
        """Read each value as what the table stores; the text of JSON stays as it is, which jsonb would rewrite."""
        types = ", ".join(f"{self.quote(column.name)} {self._record_type(column)}" for column in columns)
        return f"json_to_recordset(CAST(? AS json)) AS {ROWS} ({types})"

    def value(self, column: RowColumn) -> str:
        """Return the column, decoded where it is the text of something else."""
        name = f"{ROWS}.{self.quote(column.name)}"
        if column.is_bytes:
            return f"decode({name}, 'base64')"
        return f"{name}::text" if column.is_json else name

    def missing_schema(self, schema: str) -> str | None:
        """Ask the system catalog."""
        name = self.quote(schema).replace("'", "''")
        return f"SELECT 1 WHERE to_regnamespace('{name}') IS NULL"

    def _record_type(self, column: RowColumn) -> str:
        if column.is_bytes:
            return "text"
        return "json" if column.is_json else self.sql_type(column.stored)

    def _cast(self, name: str, before: DataType, after: DataType, zone: str) -> str:
        column = self.quote(name)
        if after == STRING and isinstance(before, ScalarType):
            return _to_text(column, before)
        if after == timestamp_ltz() and before == timestamp():
            quoted = "'" + zone.replace("'", "''") + "'"
            # As a text, an offset would have the opposite sign (POSIX)
            return f"{column} AT TIME ZONE {f'INTERVAL {quoted}' if _OFFSET.fullmatch(zone) else quoted}"
        return f"{column}::{self.sql_type(stored_scalar(after))}"


def _to_text(column: str, type_: ScalarType) -> str:
    """Return an expression for the text that a message would have."""
    if type_.kind in ("FLOAT", "DOUBLE"):
        return rf"regexp_replace({column}::text, '^(-?[0-9]+)$', '\1.0')"
    if type_.kind == "DATE":
        return f"to_char({column}, 'YYYY-MM-DD')"
    if type_.kind == "TIMESTAMP":
        return _time_text(column)
    if type_.kind == "TIMESTAMP_LTZ":
        return f"{_time_text(f'({column} AT TIME ZONE {_UTC})')} || 'Z'"
    if type_.kind == "VARBINARY":
        return f"replace(encode({column}, 'base64'), E'\\n', '')"
    return f"{column}::text"


def _time_text(column: str) -> str:
    return f"rtrim(rtrim(to_char({column}, '{_TIME}'), '0'), '.')"
