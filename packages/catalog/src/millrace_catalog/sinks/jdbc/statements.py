"""Statements that write rows, which they get as one parameter: an array of JSON objects."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from millrace_catalog.sinks.jdbc.dialect import RowColumn, SqlDialect, stored_scalar
from millrace_catalog.sinks.jdbc.json_chunks import RowRecoding
from millrace_catalog.sinks.normalized_json import NORMALIZED_KINDS
from millrace_catalog.types import ScalarType, Schema


@dataclass(frozen=True)
class RowStatements:
    """Statements for the rows of a table. Those that write have one parameter, an array of rows as JSON objects.

    Attributes:
        dialect: Dialect of the database.
        table: Name of the table, as the user gave it.
        columns: Columns of the rows.
        primary_key: Columns that identify a row; the rows of a statement have each key once.
    """

    dialect: SqlDialect
    table: str
    columns: tuple[RowColumn, ...]
    primary_key: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, dialect: SqlDialect, table: str, rows: Schema, stored: Schema, primary_key: Sequence[str] = ()
    ) -> RowStatements:
        """Make them of the columns that rows have, and those of the table."""
        types = stored.types
        columns = (RowColumn(column.name, column.type, stored_scalar(types[column.name])) for column in rows)
        return cls(dialect, table, tuple(columns), tuple(primary_key))

    @property
    def normalized_keys(self) -> Mapping[str, str]:
        """The kinds of the types of those key columns of which several texts mean the same value."""
        kinds = {column.name: column.type.kind for column in self._keys if isinstance(column.type, ScalarType)}
        return {name: kind for name, kind in kinds.items() if kind in NORMALIZED_KINDS}

    @property
    def recoding(self) -> RowRecoding:
        """The values that rows must have otherwise than JSON usually has them."""
        types = {column.name: column.stored.kind for column in self._keys}
        is_hex, is_binary = self.dialect.bytes_text == "hex", self.dialect.reads_decimals_inexactly
        return RowRecoding(
            frozenset(column.name for column in self.columns if is_hex and column.is_bytes),
            frozenset(column.name for column in self.columns if is_binary and column.stored.kind == "DOUBLE"),
            {name: kind for name, kind in self.normalized_keys.items() if types[name] == "STRING"},
        )

    @property
    def insert(self) -> str:
        """The statement that inserts rows."""
        return self._insert()

    @property
    def upsert(self) -> str:
        """The statement that inserts rows, or updates those with their keys."""
        return self.upsert_keeping(())

    def upsert_keeping(self, kept_names: Collection[str]) -> str:
        """Return the statement of `upsert` that keeps the table's values of some columns; new rows have NULL there."""
        quote = self.dialect.quote
        others = [quote(column.name) for column in self.columns if column.name not in self.primary_key]
        action = f"UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in others)}" if others else "NOTHING"
        # Without a condition SQLite would take ON for that of a join
        return f"{self._insert(kept_names)} WHERE true ON CONFLICT ({self.dialect.names(self.primary_key)}) DO {action}"

    @property
    def insert_missing(self) -> str:
        """The statement that inserts the rows whose keys the table does not have; it needs no unique constraint."""
        return f"{self.insert} WHERE NOT EXISTS (SELECT 1 FROM {self._name} AS t WHERE {self._same_key})"  # noqa: S608 (quoted)

    @property
    def delete(self) -> str:
        """The statement that deletes the rows with some keys."""
        names = self.dialect.names(self.primary_key)
        values = ", ".join(map(self.dialect.value, self._keys))
        source = self.dialect.rows(self._keys)
        return f"DELETE FROM {self._name} WHERE ({names}) IN (SELECT {values} FROM {source})"  # noqa: S608 (quoted)

    @property
    def delete_all(self) -> str:
        """The statement that deletes all rows, without a parameter; readers see the table as it was until the end."""
        return f"DELETE FROM {self._name}"  # noqa: S608 (quoted)

    def _insert(self, kept_names: Collection[str] = ()) -> str:
        names = self.dialect.names(column.name for column in self.columns)
        # Databases check NOT NULL before they look for the row of the key, so that the row has its values again
        values = ", ".join(
            f"(SELECT t.{self.dialect.quote(column.name)} FROM {self._name} AS t WHERE {self._same_key})"  # noqa: S608 (quoted)
            if column.name in kept_names
            else self.dialect.value(column)
            for column in self.columns
        )
        source = self.dialect.rows(self.columns)
        return f"INSERT INTO {self._name} ({names}) SELECT {values} FROM {source}"  # noqa: S608 (quoted)

    @property
    def _same_key(self) -> str:
        return " AND ".join(
            f"t.{self.dialect.quote(column.name)} = {self.dialect.value(column)}" for column in self._keys
        )

    @property
    def _name(self) -> str:
        return self.dialect.quote_table(self.table)

    @property
    def _keys(self) -> tuple[RowColumn, ...]:
        by_name = {column.name: column for column in self.columns}
        return tuple(by_name[name] for name in self.primary_key)
