"""SQLite."""

from __future__ import annotations

from millrace.errors import SchemaError
from millrace_catalog.sinks.jdbc.dialect import Dialect, nullable
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
from millrace_catalog.types.names import quoted

_NAMES = {
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
    """SQLite, which has neither times nor decimals: these are texts, as messages have them.

    It cannot change a column's type, so that wider columns take a new table with all rows, in one transaction.
    """

    driver = "org.sqlite.JDBC"
    package = "org.xerial:sqlite-jdbc:3.50.3.0"
    has_one_writer = True
    makes_anew = True

    def held_as(self, type_: Scalar) -> Scalar:
        """The same type where SQLite has one that gives every value back, else STRING."""
        if type_.kind == "FLOAT":
            return nullable(DOUBLE, type_.nullable)
        return type_ if type_.kind in _NAMES else nullable(STRING, type_.nullable)

    def sql_type(self, type_: Scalar) -> str:
        """SQLite's name of a type."""
        return _NAMES[type_.kind]

    def type_of(self, name: str, sizes: tuple[int, ...]) -> Scalar | None:
        """The type of a name that a table was declared with."""
        return _TYPES.get(name)

    def columns_query(self, table: str) -> str:
        """Names and declared types."""
        *database, name = ("'" + part.replace("'", "''") + "'" for part in table.split("."))
        of = ", ".join([name, *database])
        return f'SELECT name, type, "notnull" FROM pragma_table_info({of}) ORDER BY cid'  # noqa: S608 (quoted)

    def widening(self, table: str, before: Schema, after: Schema, zone: str) -> list[str]:
        """A new table in the place of the old one."""
        types = before.types
        made = f"{table} (wider)"
        values = ", ".join(self._cast(column.name, types[column.name], column.type) for column in after)
        old, new, name = self.quoted_table(table), self.quoted_table(made), self.quoted(table.rsplit(".", 1)[-1])
        return [
            self.create(made, after),
            f"INSERT INTO {new} SELECT {values} FROM {old}",  # noqa: S608 (quoted)
            f"DROP TABLE {old}",
            f"ALTER TABLE {new} RENAME TO {name}",
        ]

    def _cast(self, name: str, before: DataType, after: DataType) -> str:
        column = self.quoted(name)
        if with_nullability(before, True) == with_nullability(after, True):
            return column
        if before == BYTES:
            raise SchemaError(
                f"column {quoted(name)} holds bytes and is to become {after}, which SQLite cannot do: drop the column "
                f"and add it as TEXT by hand"
            )
        if before == BOOLEAN:
            return f"CASE {column} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END"
        return f"CAST({column} AS {_NAMES[after.kind]})" if isinstance(after, Scalar) else column
