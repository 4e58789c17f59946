"""The Avro schema that a format reads or writes by, from its options or from the columns."""

from __future__ import annotations

import pyarrow as pa

from millrace.errors import OptionsError, SchemaError
from millrace_formats.avro.derive import derive_record
from millrace_formats.avro.model import AvroType, Record, split_nullable
from millrace_formats.avro.parse import parse_schema
from millrace_formats.avro.plan import Plan
from millrace_formats.avro.resolve import resolve, unreadable


def given_schema(format_name: str, text: str) -> AvroType:
    """The schema of option ``schema``.

    Raises:
        OptionsError: It is none, or not that of a record.
    """
    try:
        found = parse_schema(text)
    except ValueError as error:
        raise OptionsError(format_name, (f"option 'schema' is no Avro schema: {error}",)) from None
    if not isinstance(split_nullable(found)[0], Record):
        raise OptionsError(format_name, ("option 'schema' is the schema of no record, which rows need",))
    return found


def schema_for(format_name: str, text: str | None, schema: pa.Schema, *, legacy: bool) -> AvroType:
    """The schema of messages that have the columns: the given one, or a derived one."""
    return derive_record(list(schema), legacy) if text is None else given_schema(format_name, text)


def checked_plan(
    format_name: str,
    writer: AvroType,
    reader: AvroType | None,
    schema: pa.Schema,
    *,
    legacy: bool,
    texts: bool = False,
) -> Plan:
    """The plan for messages of a schema that all columns can be read from.

    Raises:
        SchemaError: Some cannot; names them.
    """
    plan = resolve(writer, reader, schema, legacy=legacy, texts=texts)
    if problems := list(unreadable(plan)):
        raise SchemaError(f"format {format_name} cannot read these columns by its schema: {'; '.join(problems)}")
    return plan
