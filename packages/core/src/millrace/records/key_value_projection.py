"""Which columns of the rows are part of a record's key, and which of its value."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import pyarrow as pa

from millrace.errors import SchemaError
from millrace.options.connector import TableOptions
from millrace.options.suggestions import closest


class Part(NamedTuple):
    """The columns of a key or a value.

    Attributes:
        columns: Their names in the rows.
        schema: The same columns as the format knows them, without a prefix.
    """

    columns: tuple[str, ...]
    schema: pa.Schema

    def of_rows(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """These columns of some rows, under the names that the format knows."""
        chosen = rows.select(list(self.columns))
        return chosen if list(self.columns) == self.schema.names else chosen.rename_columns(self.schema.names)


class Parts(NamedTuple):
    """The parts of a record; without a format of keys there is no key."""

    key: Part | None
    value: Part


def divide(schema: pa.Schema, options: TableOptions) -> Parts:
    """Divide the columns of rows among key and value.

    Args:
        schema: The columns that formats read or write: all but metadata and row kinds.
        options: The options of source or sink.

    Raises:
        SchemaError: A key field is not among the columns, or a column lacks its prefix.
    """
    keys = options.key_fields
    for name in keys:
        if name not in schema.names:
            close = closest(name, schema.names)
            hint = f"did you mean {close!r}?" if close else f"there are {', '.join(schema.names) or 'none'}"
            raise SchemaError(f"option 'key.fields' names {name!r}, which is no column for formats; {hint}")
    in_value = [name for name in schema.names if not (options.leaves_key_out and name in keys)]
    for name in in_value:
        if not name.startswith(options.value_prefix) or name == options.value_prefix:
            raise SchemaError(
                f"column {name!r} does not begin with {options.value_prefix!r}, as option 'value.fields-prefix' says, "
                f"and is not in option 'key.fields'"
            )
    key = _part(schema, keys, options.key_prefix) if options.key_format is not None else None
    return Parts(key, _part(schema, in_value, options.value_prefix))


def _part(schema: pa.Schema, names: Collection[str], prefix: str) -> Part:
    fields = [schema.field(name) for name in names]
    if prefix:
        fields = [field.with_name(field.name.removeprefix(prefix)) for field in fields]
    return Part(tuple(names), pa.schema(fields))
