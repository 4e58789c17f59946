"""SQL of SQLite, https://www.sqlite.org/datatype3.html."""

from __future__ import annotations

import json
from collections.abc import Sequence

from millrace.errors import SchemaError
from millrace.table_names import join_names, split_names
from millrace_catalog.sinks.jdbc.dialect import ROWS, RowColumn, SqlDialect
from millrace_catalog.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DOUBLE,
    INT,
    SMALLINT,
    STRING,
    TINYINT,
    DataType,
    ScalarType,
    Schema,
    with_nullability,
)
from millrace_catalog.types.identifiers import quote_name

# https://www.sqlite.org/rescode.html
_RESULT, _ERROR, _BUSY, _LOCKED, _CONSTRAINT, _MISMATCH = 0xFF, 1, 5, 6, 19, 20

_SQL_NAMES = {
    "BOOLEAN": "BOOLEAN",
    "TINYINT": "TINYINT",
    "SMALLINT": "SMALLINT",
    "INT": "INTEGER",
    "BIGINT": "BIGINT",
    "DOUBLE": "DOUBLE",
    "STRING": "TEXT",
    "VARBINARY": "BLOB",
}
_TYPES = {
    "boolean": BOOLEAN,
    "tinyint": TINYINT,
    "smallint": SMALLINT,
    "int": INT,
    "integer": INT,
    "bigint": BIGINT,
    "real": DOUBLE,
    "float": DOUBLE,
    "double": DOUBLE,
    "text": STRING,
    "varchar": STRING,
    "blob": BYTES,
}

_TEXTS = {"CHAR", "VARCHAR", "STRING", "BINARY", "VARBINARY", "DATE", "TIME"}
_TEXTS |= {"TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_TZ"}


class SQLite(SqlDialect):
    """SQLite, which has neither times nor decimals: they are stored as the text that messages have.

    It cannot change the type of a column, so that wider columns require a new table with all rows, in one transaction.
    """

    driver = "org.sqlite.JDBC"
    package = "org.xerial:sqlite-jdbc:3.50.3.0"
    has_one_writer = True
    rebuilds_table = True
    has_schemas = False
    bytes_text = "hex"
    reads_decimals_inexactly = True

    def refuses_table(self, state: str | None, code: int) -> bool:
        """Return whether a constraint or a type was violated, or the statement is wrong for the table."""
        return code & _RESULT in (_ERROR, _CONSTRAINT, _MISMATCH)

    def is_transient(self, state: str | None, code: int) -> bool:
        """Return whether somebody else writes at the moment."""
        return code & _RESULT in (_BUSY, _LOCKED)

    def lacks_unique_key(self, state: str | None, reason: str) -> bool:
        """Return whether ON CONFLICT matches no constraint."""
        return "ON CONFLICT clause does not match" in reason

    def storage_type(self, type_: ScalarType) -> ScalarType:
        """Return the type itself where SQLite stores all of its values exactly, else STRING."""
        if type_.kind == "FLOAT":
            return with_nullability(DOUBLE, type_.nullable)
        return type_ if type_.kind in _SQL_NAMES else with_nullability(STRING, type_.nullable)

    def sql_type(self, type_: ScalarType) -> str:
        """Return SQLite's name of a type."""
        return _SQL_NAMES[type_.kind]

    def type_of(self, name: str, sizes: tuple[int, ...]) -> ScalarType | None:
        """Return the type that a column was declared with."""
        return _TYPES.get(name)

    def columns_query(self, table: str) -> str:
        """Read names and declared types."""
        *database, name = ("'" + part.replace("'", "''") + "'" for part in split_names(table))
        of = ", ".join([name, *database])
        return f'SELECT name, type, "notnull" FROM pragma_table_info({of}) ORDER BY cid'  # noqa: S608 (quoted)

    def widening(self, table: str, before: Schema, after: Schema, primary_key: Sequence[str], zone: str) -> list[str]:
        """Return statements that replace the table by a new one."""
        types = before.types
        *database, last = split_names(table)
        rebuilt = join_names((*database, f"{last} (wider)"))
        values = ", ".join(self._cast(column.name, types[column.name], column.type) for column in after)
        old, new, name = self.quote_table(table), self.quote_table(rebuilt), self.quote(last)
        return [
            self.create(rebuilt, after, primary_key),
            f"INSERT INTO {new} SELECT {values} FROM {old}",  # noqa: S608 (quoted)
            f"DROP TABLE {old}",
            f"ALTER TABLE {new} RENAME TO {name}",
        ]

    def rows(self, columns: Sequence[RowColumn]) -> str:
        """Return the array's elements, as JSON."""
        return f"json_each(?) AS {ROWS}"

    def value(self, column: RowColumn) -> str:
        """Return the value; as the text of its JSON where SQLite has no such type, so that all digits stay."""
        path = "'$." + json.dumps(column.name, ensure_ascii=False).replace("'", "''") + "'"
        value, text = f"{ROWS}.value ->> {path}", f"nullif({ROWS}.value -> {path}, 'null')"
        if column.is_json:
            return text
        if column.stored.kind == "STRING":
            is_text = isinstance(column.type, ScalarType) and column.type.kind in _TEXTS
            type_ = f"json_type({ROWS}.value, {path})"
            return value if is_text else f"CASE {type_} WHEN 'text' THEN {value} ELSE {text} END"
        if column.stored.kind == "DOUBLE":
            exact = f"({value} ->> 0) * pow(2.0, {value} ->> 1)"
            limits = f"CASE {value} WHEN 'Infinity' THEN 9e999 WHEN '-Infinity' THEN -9e999 END"
            kinds = f"WHEN 'array' THEN {exact} WHEN 'text' THEN {limits} ELSE {value}"
            return f"CASE json_type({ROWS}.value, {path}) {kinds} END"
        return f"unhex({value})" if column.is_bytes else value

    def missing_schema(self, schema: str) -> str | None:
        """Return None: there are none."""

    def _cast(self, name: str, before: DataType, after: DataType) -> str:
        column = self.quote(name)
        if with_nullability(before, True) == with_nullability(after, True):
            return column
        if before == BYTES:
            raise SchemaError(
                f"SQLite cannot convert column {quote_name(name)} from bytes to {after}: drop the column and add it as "
                f"TEXT by hand"
            )
        if before == BOOLEAN:
            return f"CASE {column} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END"
        return f"CAST({column} AS {_SQL_NAMES[after.kind]})" if isinstance(after, ScalarType) else column
