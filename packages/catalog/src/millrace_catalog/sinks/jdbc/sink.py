"""A table of a database as a target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from millrace.errors import OptionsError, SchemaError
from millrace_catalog.sinks.columns import check_case, fitted, widened
from millrace_catalog.sinks.deduplicate import Keys, MissingRows
from millrace_catalog.sinks.jdbc.database import Connection, Database
from millrace_catalog.sinks.jdbc.dialect import Dialect
from millrace_catalog.sinks.jdbc.postgresql import PostgreSQL
from millrace_catalog.sinks.jdbc.sqlite import SQLite
from millrace_catalog.sinks.table_sink import KEY, TableSink
from millrace_catalog.types import STRING, Column, Schema, with_nullability
from millrace_catalog.types.names import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_DIALECTS: dict[str, type[Dialect]] = {"jdbc:sqlite:": SQLite, "jdbc:postgresql:": PostgreSQL}


class JdbcTarget(TableSink):
    """A table of SQLite or PostgreSQL, with the primary key (partition, offset) where it is made here.

    Arrays, maps and structs are JSON text. The session must have the database's driver, as by
    ``.config("spark.jars.packages", "org.postgresql:postgresql:42.7.7")``.

    Args:
        url: As ``jdbc:postgresql://localhost/orders`` or ``jdbc:sqlite:/data/orders.db``.
        table: The table's name, with that of its schema before a dot where it is not the default one.
        properties: Those of the driver, such as ``user`` and ``password``.

    Raises:
        OptionsError: The database is another one.
    """

    def __init__(self, url: str, table: str, properties: Mapping[str, str] | None = None) -> None:
        self._dialect = _dialect(url)
        self._database = Database(url, properties or {}, self._dialect)
        self._name = table
        self._table = self._dialect.quoted_table(table)
        self._schema: Schema | None = None
        self._missing = MissingRows(Keys(self._keys, self._ends))

    @property
    def driver(self) -> str:
        """The class of the JDBC driver, for reading the table: Spark's option ``driver``."""
        return self._dialect.driver

    def prepare(self, spark: SparkSession, schema: Schema) -> None:
        """Make the table hold these columns, in one transaction: see `TableSink.prepare`."""
        self._missing.forget()
        wanted = self._dialect.stored_schema(schema)
        check_case(wanted.names, repr(self))
        with self._database.connection(spark, f"prepare table {self._name}") as connection:
            held = self._held(connection, wanted)
            if held is None:
                connection.execute(self._dialect.create(self._name, wanted))
                self._schema = wanted
            else:
                after = self._wider(held, wanted)
                zone = str(spark.conf.get("spark.sql.session.timeZone"))
                for statement in self._dialect.change(self._name, held, after, zone):
                    connection.execute(statement)
                self._schema = after
            connection.commit()

    def append(self, rows: DataFrame) -> None:
        """Add the rows that the table does not have: see `TableSink.append`."""
        if self._schema is None:
            raise SchemaError(f"{self!r} must be prepared before rows are appended")
        with self._database.explained(f"write table {self._name}"):
            self._missing.add(fitted(rows, self._schema), self._write)

    def __repr__(self) -> str:
        return f"JdbcTarget({str(self._database)!r}, {self._name!r})"

    def _write(self, rows: DataFrame) -> None:
        rows = rows.coalesce(1) if self._dialect.has_one_writer else rows
        rows.write.format("jdbc").options(**self._options()).mode("append").save()

    def _options(self) -> dict[str, str]:
        database = self._database
        return {**database.properties, "url": database.url, "dbtable": self._table, "driver": self._dialect.driver}

    def _held(self, connection: Connection, wanted: Schema) -> Schema | None:
        """The columns of the table that are wanted or could be; None when there is no table."""
        columns = []
        is_wanted = set(wanted.names)
        found = connection.query(self._dialect.columns_query(self._name), 3)
        for name, shown, not_null in found:
            type_ = self._dialect.type_named(str(shown))
            if type_ is not None:
                columns.append(Column(str(name), with_nullability(type_, not_null != "1")))
            elif name in is_wanted or self._dialect.makes_anew:
                raise SchemaError(
                    f"{self!r} has column {quoted(str(name))} of type {shown!r}, which is not known here: change it to "
                    f"{self._dialect.sql_type(STRING)}, or give another table"
                )
        return Schema(tuple(columns)) if found else None

    def _wider(self, held: Schema, wanted: Schema) -> Schema:
        after = self._dialect.stored_schema(widened(held, wanted, repr(self)))
        known = held.types
        # What must not be NULL stays so
        return Schema(
            tuple(
                Column(
                    each.name, with_nullability(each.type, known[each.name].nullable if each.name in known else True)
                )
                for each in after
            )
        )

    def _keys(self, spark: SparkSession) -> DataFrame:
        partition, offset = KEY
        reader = spark.read.format("jdbc").options(**self._options())
        return reader.option("customSchema", f"{partition} INT, {offset} BIGINT").load().select(*KEY)

    def _ends(self, spark: SparkSession) -> dict[int, int]:
        partition, offset = map(self._dialect.quoted, KEY)
        known = f"{self._table} WHERE {partition} IS NOT NULL AND {offset} IS NOT NULL"
        query = f"SELECT {partition}, max({offset}) FROM {known} GROUP BY {partition}"  # noqa: S608 (quoted)
        with self._database.connection(spark, f"read table {self._name}") as connection:
            return {int(str(partition)): int(str(last)) for partition, last in connection.query(query, 2)}


def _dialect(url: str) -> Dialect:
    for start, dialect in _DIALECTS.items():
        if url.startswith(start):
            return dialect()
    kind = ":".join(url.split(":")[:2])
    raise OptionsError(
        "target",
        (
            f"{kind} is no database that is known here: expected an URL that begins with {' or '.join(_DIALECTS)}; "
            f"write a TableSink of your own for another one",
        ),
    )
