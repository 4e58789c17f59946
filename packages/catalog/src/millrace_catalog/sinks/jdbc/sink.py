"""A database table as a sink."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.sql import functions as fn

from millrace.errors import SchemaError
from millrace_catalog.sinks.casting import to_text
from millrace_catalog.sinks.columns import cast_rows
from millrace_catalog.sinks.jdbc.database import Database
from millrace_catalog.sinks.jdbc.json_chunks import chunk_texts
from millrace_catalog.sinks.jdbc.statements import RowStatements
from millrace_catalog.sinks.jdbc.tables import DatabaseTable, dialect_of
from millrace_catalog.sinks.table_sink import KEY, ReplicationSink
from millrace_catalog.types import Schema
from millrace_catalog.types.identifiers import backquote
from millrace_catalog.types.spark import to_spark_schema

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructField

_JSON_TYPES = {"boolean", "byte", "short", "integer", "long", "decimal", "float", "double", "string"}


class JdbcSink(ReplicationSink):
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
        self._dialect = dialect_of(url)
        self._database = Database(url, properties or {}, self._dialect)
        self._label = f"JdbcSink({str(self._database)!r}, {table!r})"
        self._table = DatabaseTable(self._dialect, table, self._label)
        self._schema: Schema | None = None

    @property
    def driver(self) -> str:
        """Class of the JDBC driver, Spark's option ``driver`` for reading the table."""
        return self._dialect.driver

    def prepare(self, spark: SparkSession, schema: Schema) -> None:
        """Create the table or change its columns, in one transaction: see `ReplicationSink.prepare`."""
        zone = str(spark.conf.get("spark.sql.session.timeZone"))
        with self._database.connection(spark, f"prepare table {self._table.name}") as connection:
            after = self._table.fit(connection, schema, KEY, zone)
            connection.commit()
        self._schema = after

    def append(self, rows: DataFrame) -> None:
        """Append the rows that the table does not have, in one transaction: see `ReplicationSink.append`."""
        if self._schema is None:
            raise SchemaError(f"{self!r} must be prepared before rows are appended")
        stored = self._schema
        statements = RowStatements.of(self._dialect, self._table.name, stored, stored, KEY)
        statement, recoding = statements.insert_missing, statements.recoding
        fields = to_spark_schema(stored).fields
        objects = fn.struct(*(_json_value(field) for field in fields))
        texts = cast_rows(rows, stored).select(fn.to_json(objects, {"ignoreNullFields": "false"}).alias("row"))
        chunks = texts.mapInArrow(lambda batches: chunk_texts(batches, recoding), "rows STRING")
        with self._database.connection(rows.sparkSession, f"write table {self._table.name}") as connection:
            for chunk in chunks.toLocalIterator(prefetchPartitions=True):
                connection.write(statement, chunk["rows"])
            connection.commit()

    def __repr__(self) -> str:
        return self._label


def _json_value(field: StructField) -> Column:
    """Return a stored column as JSON has it: numbers and booleans as such, others as texts."""
    column = fn.col(backquote(field.name))
    value = column if field.dataType.typeName() in _JSON_TYPES else to_text(column, field.dataType)
    return value.alias(field.name)
