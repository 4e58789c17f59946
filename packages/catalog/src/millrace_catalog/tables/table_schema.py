"""Schema of a topic's table: the columns of keys, of values, and of metadata."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from millrace.contracts.catalog import Part
from millrace.errors import SchemaError
from millrace_catalog.inference import InferredColumn, InferredKey, InferredTable
from millrace_catalog.tables.options import CatalogOptions
from millrace_catalog.types import BIGINT, INT, STRING, Column, timestamp_ltz, with_nullability

METADATA = (
    Column("partition", with_nullability(INT, False)),
    Column("offset", with_nullability(BIGINT, False)),
    Column("timestamp", timestamp_ltz(3)),
)
POSITION = ("partition", "offset")
"""Columns that identify a row: the place of its message in the topic."""

ROW_KIND = Column("row_kind", STRING)
"""Column of changelog tables: the kind of change, as `+I`."""

_PART_NAMES: dict[Part, str] = {"key": "the key", "value": "the value", "metadata": "the metadata"}


@dataclass(frozen=True)
class TableSchemaColumn:
    """A column of the table.

    Attributes:
        column: Name and type.
        part: Part of the message that it comes from.
        inferred: The inferred column, named without prefix; None for metadata.
    """

    column: Column
    part: Part
    inferred: InferredColumn | None = None


@dataclass(frozen=True)
class TableSchema:
    """The schema of a topic's table.

    Attributes:
        columns: Columns of the key, of the value and of metadata, in this order.
        primary_key: Names of the columns of the primary key; a changelog table may have none.
        is_upsert: Whether a row replaces earlier rows with the same key.
        key_is_json: Whether keys are read as JSON, else as bytes.
        is_changelog: Whether rows are changes, with a column that says which.
    """

    columns: tuple[TableSchemaColumn, ...]
    primary_key: tuple[str, ...]
    is_upsert: bool
    key_is_json: bool
    is_changelog: bool = False

    def names_of(self, part: Part) -> tuple[str, ...]:
        """Return the names of the columns of a part."""
        return tuple(column.column.name for column in self.columns if column.part == part)


def build_table_schema(
    topic: str,
    key: InferredKey,
    value: InferredTable,
    options: CatalogOptions,
    *,
    is_upsert: bool = False,
    is_changelog: bool = False,
) -> TableSchema:
    """Combine the inferred columns of keys and values with those of metadata.

    Raises:
        SchemaError: Two columns of different parts would have the same name, options cannot express the name of a key
            column, or an upsert table has no key.
    """
    columns = (
        *_prefixed(key.columns, options.key_prefix, "key"),
        *([TableSchemaColumn(ROW_KIND, "metadata")] if is_changelog else []),
        *_prefixed(value.columns, options.value_prefix, "value"),
        *(TableSchemaColumn(column, "metadata") for column in METADATA),
    )
    _check_names(topic, columns)
    keys = tuple(column.column.name for column in columns if column.part == "key")
    _check_key(topic, keys, is_upsert=is_upsert)
    primary_key = keys if is_upsert else POSITION
    if is_changelog:
        # Several rows have the position of one message
        primary_key = tuple(options.value_prefix + name for name in value.primary_key)
    return TableSchema(columns, primary_key, is_upsert, key.is_json, is_changelog)


def check_key_names(topic: str, names: Iterable[str]) -> None:
    """Raise SchemaError for the name of a key column that option ``key.fields`` cannot express."""
    for name in names:
        if ";" in name or name != name.strip():
            raise SchemaError(
                f"topic {topic!r}: option 'key.fields' cannot express the key column {name!r}; read the topic with a "
                f"schema"
            )


def _prefixed(columns: tuple[InferredColumn, ...], prefix: str, part: Part) -> Iterator[TableSchemaColumn]:
    for column in columns:
        yield TableSchemaColumn(Column(prefix + column.name, column.type), part, column)


def _check_names(topic: str, columns: tuple[TableSchemaColumn, ...]) -> None:
    first: dict[str, TableSchemaColumn] = {}
    for column in columns:
        # By default Spark ignores case in column names
        name = column.column.name
        other = first.setdefault(name.lower(), column)
        if other.part != column.part:
            raise SchemaError(
                f"topic {topic!r}: column {name!r} would be of {_PART_NAMES[other.part]} and of "
                f"{_PART_NAMES[column.part]}; give option 'value.fields-prefix', such as 'value_', or another "
                f"'key.fields-prefix'"
            )
        if other is not column:
            raise SchemaError(
                f"topic {topic!r}: the columns {other.column.name!r} and {name!r} of {_PART_NAMES[column.part]} differ "
                f"only in case, and Spark takes them for the same: read the topic with a schema that names one of them"
            )


def _check_key(topic: str, names: tuple[str, ...], *, is_upsert: bool) -> None:
    check_key_names(topic, names)
    if is_upsert and not names:
        raise SchemaError(
            f"topic {topic!r}: an upsert table is keyed by its key columns, and no sampled message has a key; "
            f"leave out option 'infer-schema.compacted-topic-as-upsert-table'"
        )
