"""SQL of SQLite, https://www.sqlite.org/datatype3.html."""

from __future__ import annotations

from millrace.errors import SchemaError
from millrace_catalog.sinks.jdbc.dialect import Dialect
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
    Scalar,
    Schema,
    with_nullability,
)
from millrace_catalog.types.identifiers import quote_name

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


class SQLite(Dialect):
    """SQLite, which has neither times nor decimals: they are stored as the text that messages have.

    It cannot change the type of a column, so that wider columns require a new table with all rows, in one transaction.
    """

    driver = "org.sqlite.JDBC"
    package = "org.xerial:sqlite-jdbc:3.50.3.0"
    has_one_writer = True
    rebuilds_table = True

    def storage_type(self, type_: Scalar) -> Scalar:
        """Return the type itself where SQLite stores all of its values exactly, else STRING."""
        if type_.kind == "FLOAT":
            return with_nullability(DOUBLE, type_.nullable)
        return type_ if type_.kind in _SQL_NAMES else with_nullability(STRING, type_.nullable)

    def sql_type(self, type_: Scalar) -> str:
        """Return SQLite's name of a type."""
        return _SQL_NAMES[type_.kind]

    def type_of(self, name: str, sizes: tuple[int, ...]) -> Scalar | None:
        """Return the type that a column was declared with."""
        return _TYPES.get(name)

    def columns_query(self, table: str) -> str:
        """Read names and declared types."""
        *database, name = ("'" + part.replace("'", "''") + "'" for part in table.split("."))
        of = ", ".join([name, *database])
        return f'SELECT name, type, "notnull" FROM pragma_table_info({of}) ORDER BY cid'  # noqa: S608 (quoted)

    def widening(self, table: str, before: Schema, after: Schema, zone: str) -> list[str]:
        """Return statements that replace the table by a new one."""
        types = before.types
        rebuilt = f"{table} (wider)"
        values = ", ".join(self._cast(column.name, types[column.name], column.type) for column in after)
        old, new, name = self.quote_table(table), self.quote_table(rebuilt), self.quote(table.rsplit(".", 1)[-1])
        return [
            self.create(rebuilt, after),
            f"INSERT INTO {new} SELECT {values} FROM {old}",  # noqa: S608 (quoted)
            f"DROP TABLE {old}",
            f"ALTER TABLE {new} RENAME TO {name}",
        ]

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
        return f"CAST({column} AS {_SQL_NAMES[after.kind]})" if isinstance(after, Scalar) else column
