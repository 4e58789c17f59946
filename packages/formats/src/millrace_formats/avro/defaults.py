"""The defaults of a reader's schema as values of columns."""

from __future__ import annotations

from typing import Any

from millrace.errors import MalformedMessageError, SchemaError
from millrace_formats.avro.json_reader import json_reader
from millrace_formats.avro.plan import Plan


def default_value(plan: Plan, default: Any) -> Any:
    """What a field is where messages lack it.

    Args:
        plan: How a value of the field's type becomes one of the column's.
        default: The default, as the schema's JSON has it.

    Raises:
        SchemaError: The default is none of the field's type.
    """
    try:
        return json_reader(plan, tagged=False)(default)
    except MalformedMessageError as error:
        raise SchemaError(f"option 'schema' has a default that cannot be read: {error}") from None
