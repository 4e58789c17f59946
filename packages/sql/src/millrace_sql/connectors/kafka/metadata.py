"""Metadata columns of a table, as the data source reads and writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import types as sql

from millrace.contracts import TableColumn, TableDescription
from millrace.errors import SchemaError
from millrace.options.metadata import METADATA_KEYS, SelectedMetadata
from millrace.options.suggestions import closest
from millrace.pyspark_internals import from_arrow_type, to_arrow_schema
from millrace.records.metadata_columns import metadata_fields
from millrace.records.metadata_types import can_hold
from millrace_sql.connectors.rows import column_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column

READ_ONLY = {"offset", "timestamp-type", "leader-epoch"}
"""Metadata of Kafka that the brokers set."""

_TIMES = (sql.TimestampType, sql.TimestampNTZType, sql.DateType)


@dataclass(frozen=True)
class MetadataMapping:
    """A metadata column, and how the data source knows it.

    Attributes:
        column: The column of the table.
        alias: Its name for the data source, which takes no name with blanks or commas.
        type: The type that the data source has for it.
    """

    column: TableColumn
    alias: str
    type: sql.DataType

    @property
    def entry(self) -> str:
        """The column's entry in the option ``metadata.columns``."""
        return f"{self.column.metadata_key} AS {self.alias}"

    @property
    def is_cast(self) -> bool:
        """True when Spark casts between the table's type and the data source's."""
        return self.type != self.column.type

    def read(self) -> Column:
        """Return the column as the table declares it, from the rows of the data source."""
        source = column_of(self.alias)
        return (source.cast(self.column.type) if self.is_cast else source).alias(self.column.name)

    def written(self) -> Column:
        """Return the column as the data source takes it, from the rows of the table."""
        source = column_of(self.column.name)
        return (source.cast(self.type) if self.is_cast else source).alias(self.alias)


def metadata_option(mappings: Sequence[MetadataMapping]) -> dict[str, str]:
    """Return the option of the data source that names the columns; empty without any."""
    return {"metadata.columns": ", ".join(mapping.entry for mapping in mappings)} if mappings else {}


def columns_to_read(table: TableDescription, format_metadata: Mapping[str, Any]) -> tuple[MetadataMapping, ...]:
    """Return how the metadata columns of a table are read.

    Args:
        table: The table.
        format_metadata: The metadata of the format of values: Arrow types by keys.

    Raises:
        SchemaError: A key is unknown, or the declared type cannot hold its values.
    """
    return tuple(_mapping(table, column, place, format_metadata) for place, column in _numbered(table))


def columns_to_write(table: TableDescription) -> tuple[MetadataMapping, ...]:
    """Return how the metadata columns of a table are written; those that are VIRTUAL are not.

    Raises:
        SchemaError: A column without VIRTUAL has metadata that cannot be written, a key is unknown, or a type does not
            fit.
    """
    written = []
    for place, column in _numbered(table):
        key = str(column.metadata_key)
        if column.is_virtual:
            continue
        if key in READ_ONLY or key.startswith("value."):
            raise SchemaError(
                f"table {table.name!r}: column {column.name!r} is metadata {key!r}, which can only be read: declare it "
                f"VIRTUAL, so that INSERT INTO leaves it out"
            )
        mapping = _mapping(table, column, place, {})
        written.append(MetadataMapping(column, mapping.alias, _known_type(key, {})))
    return tuple(written)


def _numbered(table: TableDescription) -> list[tuple[int, TableColumn]]:
    return list(enumerate(table.metadata_columns))


def _mapping(
    table: TableDescription, column: TableColumn, place: int, format_metadata: Mapping[str, pa.DataType]
) -> MetadataMapping:
    key = str(column.metadata_key)
    known = [*METADATA_KEYS, *(f"value.{name}" for name in format_metadata)]
    # Whether a write's format has such metadata does not matter: it cannot be written
    if key not in known:
        close = closest(key, known)
        hint = f"did you mean {close!r}? " if close else ""
        raise SchemaError(
            f"table {table.name!r}: column {column.name!r} is of unknown metadata {key!r}; {hint}There is "
            f"{', '.join(known)}"
        )
    own = _known_type(key, format_metadata)
    alias = column.name if re.fullmatch(r"\w+", column.name) else f"__metadata_{place}"
    if _reads_as(column.type, key, format_metadata):
        return MetadataMapping(column, alias, column.type)
    if not _casts(own, column.type):
        raise SchemaError(
            f"table {table.name!r}: column {column.name!r} is metadata {key!r} of type {_name(own)}, which cannot "
            f"become {_name(column.type)}: declare it {_name(own)}"
        )
    return MetadataMapping(column, alias, own)


def _known_type(key: str, format_metadata: Mapping[str, pa.DataType]) -> sql.DataType:
    (field,) = metadata_fields((SelectedMetadata(key, key),), format_metadata)
    return from_arrow_type(field.type)


def _reads_as(declared: sql.DataType, key: str, format_metadata: Mapping[str, pa.DataType]) -> bool:
    (field,) = metadata_fields((SelectedMetadata(key, key),), format_metadata)
    schema = to_arrow_schema(sql.StructType([sql.StructField("declared", declared)]))
    return can_hold(schema.field(0).type, field.type)


def _casts(own: sql.DataType, declared: sql.DataType) -> bool:
    """Return whether values keep their meaning as the declared type, where they fit it."""
    if isinstance(declared, sql.StringType):
        return not isinstance(own, sql.ArrayType | sql.MapType | sql.StructType)
    if isinstance(own, _TIMES):
        return isinstance(declared, _TIMES)
    if isinstance(own, sql.NumericType):
        return isinstance(declared, sql.NumericType)
    return isinstance(declared, type(own))


def _name(type_: sql.DataType) -> str:
    return type_.simpleString().upper()
