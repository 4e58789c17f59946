"""The columns of Spark's own Kafka connector, for writes without a format."""

from __future__ import annotations

import pyarrow as pa

from millrace.errors import SchemaError
from millrace.sink.writer.writable_metadata import KEY, VALUE, WRITABLE, Carriers, carry, check_type

_COLUMNS = {
    "key": KEY,
    "value": VALUE,
    "topic": "topic",
    "partition": "partition",
    "headers": "header-list",
    "timestamp": "timestamp",
}


def kafka_carriers(schema: pa.Schema, named: Carriers) -> dict[str, str]:
    """The columns that carry a record by their own names, and those that the option ``metadata.columns`` names.

    Args:
        schema: The rows' columns.
        named: The columns that the option names.

    Raises:
        SchemaError: A column is unknown, of another type, or missing, or two carry the same.
    """
    carriers = dict(named)
    for field in schema:
        if field.name in named.values():
            continue
        key = _COLUMNS.get(field.name)
        if key is None:
            raise SchemaError(
                f"column {field.name!r} cannot be written: without the option 'format' the columns are "
                f"{', '.join(_COLUMNS)}. Give a format, such as 'json', or select these"
            )
        check_type(WRITABLE[key], f"column {field.name!r}", field.type, " without the option 'format'")
        carry(carriers, key, field.name)
    if VALUE not in carriers:
        raise SchemaError("a column 'value' is required without the option 'format'")
    return carriers
