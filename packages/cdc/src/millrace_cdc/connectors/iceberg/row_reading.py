"""Rows of a table, read by Iceberg's library on the driver."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any


def rows_as_file(jvm: Any, table: Any, columns: Sequence[str], values: Mapping[str, Collection[Any]]) -> bytes | None:
    """Return columns of rows as a file of Parquet: each call from Python for a value would take as long as a row.

    Args:
        jvm: The session's JVM.
        table: The table there.
        columns: The columns.
        values: By column, the values of the rows to read, as Iceberg's expressions take them.

    Returns:
        The file; None where there is no such row.
    """
    iceberg = jvm.org.apache.iceberg
    terms = iceberg.expressions.Expressions
    condition = terms.alwaysTrue()
    for name, column_values in values.items():
        condition = getattr(terms, "and")(condition, getattr(terms, "in")(name, list(column_values)))
    schema = table.schema().select(list(columns))
    rows = iceberg.data.IcebergGenerics.read(table).project(schema).where(condition).build()
    try:
        if not rows.iterator().hasNext():
            return None
        factory = iceberg.data.GenericFileWriterFactory.Builder(table).dataSchema(schema)
        file = iceberg.inmemory.InMemoryOutputFile()
        plain = iceberg.encryption.EncryptedFiles.plainAsEncryptedOutput(file)
        unpartitioned = iceberg.PartitionSpec.unpartitioned()
        writer = factory.dataFileFormat(iceberg.FileFormat.PARQUET).build().newDataWriter(plain, unpartitioned, None)
        _write_all(writer, jvm.java.util.Collections.singletonList(rows).toArray())
        writer.close()
    finally:
        rows.close()
    return bytes(file.toByteArray())


def _write_all(writer: Any, arguments: Any) -> None:
    """Write rows to a file, by reflection: py4j would take the method for one row.

    Args:
        writer: A writer of a file.
        arguments: An array with the rows.
    """
    methods = (method for method in writer.getClass().getMethods() if method.getName() == "write")
    (method,) = (method for method in methods if method.getParameterTypes()[0].getName() == "java.lang.Iterable")
    method.invoke(writer, arguments)
