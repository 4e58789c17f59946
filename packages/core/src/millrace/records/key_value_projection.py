"""Divide the columns of rows among a record's key and its value."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import pyarrow as pa

from millrace.errors import SchemaError
from millrace.options.shared import TableOptions
from millrace.options.suggestions import closest


class ColumnProjection(NamedTuple):
    """The columns of a key or a value.

    Attributes:
        columns: Their names in the rows.
        schema: The same columns as the format knows them, without a prefix.
    """

    columns: tuple[str, ...]
    schema: pa.Schema

    def project(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return these columns of some rows, under the names that the format knows."""
        selected = rows.select(list(self.columns))
        return selected if list(self.columns) == self.schema.names else selected.rename_columns(self.schema.names)


class KeyValueProjection(NamedTuple):
    """The columns of key and value; without a format of keys there is no key."""

    key: ColumnProjection | None
    value: ColumnProjection


def divide_columns(schema: pa.Schema, options: TableOptions) -> KeyValueProjection:
    """Divide the columns of rows among key and value.

    Args:
        schema: The columns that formats read or write: all but metadata and row kinds.
        options: The options of source or sink.

    Raises:
        SchemaError: A key field is not among the columns, or a column lacks its prefix.
    """
    key_names = options.key_fields
    for name in key_names:
        if name not in schema.names:
            close = closest(name, schema.names)
            hint = f"did you mean {close!r}?" if close else f"there are {', '.join(schema.names) or 'none'}"
            raise SchemaError(f"option 'key.fields' names {name!r}, which is not a column for formats; {hint}")
    value_names = [name for name in schema.names if not (options.leaves_key_out and name in key_names)]
    for name in value_names:
        if not name.startswith(options.value_prefix) or name == options.value_prefix:
            raise SchemaError(
                f"column {name!r} does not begin with {options.value_prefix!r}, as option 'value.fields-prefix' says, "
                f"and is not in option 'key.fields'"
            )
    key = _projection(schema, key_names, options.key_prefix) if options.key_format is not None else None
    return KeyValueProjection(key, _projection(schema, value_names, options.value_prefix))


def _projection(schema: pa.Schema, names: Collection[str], prefix: str) -> ColumnProjection:
    fields = [schema.field(name) for name in names]
    if prefix:
        fields = [field.with_name(field.name.removeprefix(prefix)) for field in fields]
    return ColumnProjection(tuple(names), pa.schema(fields))
