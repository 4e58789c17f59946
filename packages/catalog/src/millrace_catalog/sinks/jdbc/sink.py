"""A database table as a sink."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from millrace.errors import OptionsError, SchemaError
from millrace_catalog.sinks.columns import cast_rows, check_case, widen_sink
from millrace_catalog.sinks.deduplicate import Deduplicator, SinkKeys
from millrace_catalog.sinks.jdbc.database import Connection, Database
from millrace_catalog.sinks.jdbc.dialect import Dialect
from millrace_catalog.sinks.jdbc.postgresql import PostgreSQL
from millrace_catalog.sinks.jdbc.sqlite import SQLite
from millrace_catalog.sinks.table_sink import KEY, TableSink
from millrace_catalog.types import STRING, Column, Schema, with_nullability
from millrace_catalog.types.identifiers import quote_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_DIALECTS: dict[str, type[Dialect]] = {"jdbc:sqlite:": SQLite, "jdbc:postgresql:": PostgreSQL}


class JdbcSink(TableSink):
    """A table of PostgreSQL or SQLite. A table that it creates has the primary key (partition, offset).

    Arrays, maps and structs are JSON text. The session needs the database's JDBC driver, for example by
    ``.config("spark.jars.packages", "org.postgresql:postgresql:42.7.7")``.

    Args:
        url: JDBC URL, such as ``jdbc:postgresql://localhost/orders`` or ``jdbc:sqlite:/data/orders.db``.
        table: Name of the table, prefixed with that of its schema and a dot unless it is in the default schema.
        properties: Properties of the driver, such as ``user`` and ``password``.

    Raises:
        OptionsError: The database is not supported.
    """

    def __init__(self, url: str, table: str, properties: Mapping[str, str] | None = None) -> None:
        self._dialect = _dialect(url)
        self._database = Database(url, properties or {}, self._dialect)
        self._name = table
        self._table = self._dialect.quote_table(table)
        self._schema: Schema | None = None
        self._deduplicator = Deduplicator(SinkKeys(self._keys, self._ends))

    @property
    def driver(self) -> str:
        """Class of the JDBC driver, Spark's option ``driver`` for reading the table."""
        return self._dialect.driver

    def prepare(self, spark: SparkSession, schema: Schema) -> None:
        """Create the table or change its columns, in one transaction: see `TableSink.prepare`."""
        self._deduplicator.forget()
        required = self._dialect.stored_schema(schema)
        check_case(required.names, repr(self))
        with self._database.connection(spark, f"prepare table {self._name}") as connection:
            current = self._current_schema(connection, required)
            if current is None:
                connection.execute(self._dialect.create(self._name, required))
                self._schema = required
            else:
                after = self._widened(current, required)
                zone = str(spark.conf.get("spark.sql.session.timeZone"))
                for statement in self._dialect.change(self._name, current, after, zone):
                    connection.execute(statement)
                self._schema = after
            connection.commit()

    def append(self, rows: DataFrame) -> None:
        """Append the rows that the table does not have: see `TableSink.append`."""
        if self._schema is None:
            raise SchemaError(f"{self!r} must be prepared before rows are appended")
        with self._database.translated_errors(f"write table {self._name}"):
            self._deduplicator.append(cast_rows(rows, self._schema), self._write)

    def __repr__(self) -> str:
        return f"JdbcSink({str(self._database)!r}, {self._name!r})"

    def _write(self, rows: DataFrame) -> None:
        rows = rows.coalesce(1) if self._dialect.has_one_writer else rows
        rows.write.format("jdbc").options(**self._options()).mode("append").save()

    def _options(self) -> dict[str, str]:
        database = self._database
        return {**database.properties, "url": database.url, "dbtable": self._table, "driver": self._dialect.driver}

    def _current_schema(self, connection: Connection, required: Schema) -> Schema | None:
        """Read the columns whose types are supported, which required ones must be; None when there is no table."""
        columns = []
        required_names = set(required.names)
        rows = connection.query(self._dialect.columns_query(self._name), 3)
        for name, sql_type, not_null in rows:
            type_ = self._dialect.parse_sql_type(str(sql_type))
            if type_ is not None:
                columns.append(Column(str(name), with_nullability(type_, not_null != "1")))
            elif name in required_names or self._dialect.rebuilds_table:
                raise SchemaError(
                    f"{self!r} has column {quote_name(str(name))} of type {sql_type!r}, which is not supported: change "
                    f"it to {self._dialect.sql_type(STRING)}, or give another table"
                )
        return Schema(tuple(columns)) if rows else None

    def _widened(self, current: Schema, required: Schema) -> Schema:
        after = self._dialect.stored_schema(widen_sink(current, required, repr(self)))
        types = current.types
        # NOT NULL columns stay NOT NULL
        return Schema(
            tuple(
                Column(
                    each.name, with_nullability(each.type, types[each.name].nullable if each.name in types else True)
                )
                for each in after
            )
        )

    def _keys(self, spark: SparkSession) -> DataFrame:
        partition, offset = KEY
        reader = spark.read.format("jdbc").options(**self._options())
        return reader.option("customSchema", f"{partition} INT, {offset} BIGINT").load().select(*KEY)

    def _ends(self, spark: SparkSession) -> dict[int, int]:
        partition, offset = map(self._dialect.quote, KEY)
        rows_with_key = f"{self._table} WHERE {partition} IS NOT NULL AND {offset} IS NOT NULL"
        query = f"SELECT {partition}, max({offset}) FROM {rows_with_key} GROUP BY {partition}"  # noqa: S608 (quoted)
        with self._database.connection(spark, f"read table {self._name}") as connection:
            return {int(str(partition)): int(str(last)) for partition, last in connection.query(query, 2)}


def _dialect(url: str) -> Dialect:
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
