"""Make readers and writers of Avro records behind the frame of a registry."""

from __future__ import annotations

import functools
from collections.abc import Callable

import pyarrow as pa

from millrace.contracts import Decoder, Payloads
from millrace.errors import RegistryError
from millrace_formats.avro.pyruhvro_library import check_installed
from millrace_formats.avro.reader.resolution import resolve, resolve_or_raise
from millrace_formats.avro.registry.decoder import AvroFramedDecoder
from millrace_formats.avro.registry.options import AvroRegistryOptions
from millrace_formats.avro.registry.schemas import avro_registry
from millrace_formats.avro.schema.columns import columns_of
from millrace_formats.avro.schema.derivation import check_columns, derive_record, render_schema
from millrace_formats.avro.schema.model import NULL, AvroType, Record, Union, split_nullable
from millrace_formats.avro.schema.parser import schema_option
from millrace_formats.avro.writer.encoder import BinaryWriter
from millrace_formats.avro.writer.write_plan import WritePlan, plan_write
from millrace_formats.registry.client import check_client_installed
from millrace_formats.registry.frame import frame_of
from millrace_formats.registry.schema_registry import SchemaNotFoundError
from millrace_formats.registry.subjects import SubjectName


def check_libraries(format_name: str) -> None:
    """Refuse a machine without the libraries of a format.

    Raises:
        MachineError: Says how to install what is missing.
    """
    check_installed(format_name)
    check_client_installed(format_name)


class RegistryCodec:
    """Make readers and writers of framed messages of one record each.

    Args:
        format_name: The format's name.
        options: Its options.
    """

    def __init__(self, format_name: str, options: AvroRegistryOptions) -> None:
        self._name = format_name
        self._options = options
        self._registry = functools.partial(avro_registry, format_name, options)

    def check(self, schema: pa.Schema) -> None:
        """Refuse columns that have no Avro schema, and a machine without the libraries.

        Raises:
            SchemaError: Names the columns.
            MachineError: Says how to install what is missing.
        """
        check_libraries(self._name)
        check_columns(self._name, schema)

    def decoder(self, schema: pa.Schema, *, skips_empty: bool = False, texts: bool = False) -> Decoder:
        """Return a decoder of records.

        Args:
            schema: The columns.
            skips_empty: Whether an empty message gives no row.
            texts: Whether a record can be read as a map of the texts of its fields.

        Raises:
            SchemaError: The schema of option ``schema`` cannot be read into the columns.
        """
        legacy, text = self._options.legacy_timestamps, self._options.schema
        reader = None if text is None else schema_option(self._name, text)
        if reader is not None:
            resolve_or_raise(self._name, reader, reader, schema, legacy=legacy, texts=texts)
        plan = functools.partial(resolve, reader=reader, schema=schema, legacy=legacy, texts=texts)
        return AvroFramedDecoder(schema, self._registry, plan, skips_empty=skips_empty)

    def columns(self, subject: str) -> pa.Schema | None:
        """Return a column for each field of the given schema, or of the latest one of a subject; None without any.

        Raises:
            SchemaError: The type of a field does not tell that of a column.
            RegistryError: The subject has a schema of another type, or the registry could not be asked.
        """
        check_libraries(self._name)
        if self._options.schema is not None:
            return columns_of(self._name, schema_option(self._name, self._options.schema))
        try:
            latest = self._registry().latest(subject)
        except SchemaNotFoundError as error:
            raise RegistryError(str(error)) from None
        return None if latest is None else columns_of(self._name, latest.schema)

    def writer(self, schema: pa.Schema, subject: SubjectName, *, is_nullable: bool = False) -> FramedWriter:
        """Return a writer of rows as records.

        Args:
            schema: The columns.
            subject: The subject of their schema.
            is_nullable: Whether the derived schema is a union with null.

        Raises:
            SchemaError: The columns cannot be written by the schema of option ``schema``.
        """
        legacy, text = self._options.legacy_timestamps, self._options.schema
        writer = self._derive(schema, is_nullable) if text is None else schema_option(self._name, text)
        plan = plan_write(self._name, writer, schema, legacy=legacy)
        text = render_schema(writer) if text is None else text
        record = split_nullable(writer)[0]
        name = record.name if isinstance(record, Record) else None
        return FramedWriter(plan, lambda: self._register(text, subject.of(name)))

    def _derive(self, schema: pa.Schema, is_nullable: bool) -> AvroType:
        record = derive_record(list(schema), self._options.legacy_timestamps)
        return Union((NULL, record)) if is_nullable else record

    def _register(self, schema: str, subject: str) -> int:
        """Register a schema, and return its id."""
        self._registry().check_clear(subject)
        return self._registry().register(subject, schema, is_new=self._options.auto_register)


class FramedWriter:
    """Write rows with the frame of their schema, which is registered when the first rows come.

    Args:
        plan: How rows are written.
        register: Returns the schema's id; called once.
    """

    def __init__(self, plan: WritePlan, register: Callable[[], int]) -> None:
        self._plan = plan
        self._register = register
        self._writer: BinaryWriter | None = None

    def write(self, rows: pa.RecordBatch) -> Payloads:
        """Write each row as a message.

        Raises:
            MessageError: A value cannot be written.
            RegistryError: The registry does not accept the schema, or could not be asked.
        """
        if not rows.num_rows:
            return Payloads([])
        if self._writer is None:
            self._writer = BinaryWriter(self._plan, frame_of(self._register()))
        return self._writer.write(rows)
