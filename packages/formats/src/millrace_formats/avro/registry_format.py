"""What the formats have in common whose schemas a registry has."""

from __future__ import annotations

import functools

import pyarrow as pa

from millrace.contracts import Decoder, Encoder, Format, SerializationContext
from millrace_formats.avro.derive import check_columns, derive_record
from millrace_formats.avro.framed_decoder import FramedDecoder
from millrace_formats.avro.framed_encoder import FramedRows, registration
from millrace_formats.avro.library import check_installed
from millrace_formats.avro.model import NULL, AvroType, Union
from millrace_formats.avro.put import plan_put
from millrace_formats.avro.registry import registry_for
from millrace_formats.avro.registry_client import check_client_installed
from millrace_formats.avro.registry_options import RegistryOptions
from millrace_formats.avro.render import render_schema
from millrace_formats.avro.resolve import resolve
from millrace_formats.avro.schemas import checked_plan, given_schema


class RegistryCodec:
    """Readers and writers of framed messages of one record each.

    Args:
        format_name: The format's name.
        options: Its options.
    """

    def __init__(self, format_name: str, options: RegistryOptions) -> None:
        self._name = format_name
        self._options = options
        self._registry = functools.partial(registry_for, format_name, options)

    def check(self, schema: pa.Schema) -> None:
        """Refuse columns that have no Avro schema, and a machine without the libraries.

        Raises:
            SchemaError: Names the columns.
            MachineError: Says how to install what is missing.
        """
        check_installed(self._name)
        check_client_installed(self._name)
        check_columns(self._name, schema)

    def decoder(self, schema: pa.Schema, *, skips_empty: bool = False, texts: bool = False) -> Decoder:
        """A decoder of records to rows.

        Args:
            schema: The columns.
            skips_empty: Whether an empty message gives no row.
            texts: Whether a record can be read as a map of the texts of its fields.

        Raises:
            SchemaError: The given schema cannot be read into the columns.
        """
        legacy, text = self._options.legacy_timestamps, self._options.schema
        reader = None if text is None else given_schema(self._name, text)
        if reader is not None:
            checked_plan(self._name, reader, reader, schema, legacy=legacy, texts=texts)
        plan = functools.partial(resolve, reader=reader, schema=schema, legacy=legacy, texts=texts)
        return FramedDecoder(schema, self._registry, plan, skips_empty=skips_empty)

    def rows(self, schema: pa.Schema, default_subject: str | None, *, nullable: bool = False) -> FramedRows:
        """A writer of rows as records.

        Args:
            schema: The columns.
            default_subject: The subject, unless the options name one.
            nullable: Whether the derived schema is a union with null.

        Raises:
            SchemaError: The columns cannot be written by the given schema.
        """
        legacy, text = self._options.legacy_timestamps, self._options.schema
        writer = self._derived(schema, nullable) if text is None else given_schema(self._name, text)
        put = plan_put(self._name, writer, schema, legacy=legacy)
        text = render_schema(writer) if text is None else text
        return FramedRows(put, registration(self._name, self._options, self._registry, text, default_subject))

    def _derived(self, schema: pa.Schema, nullable: bool) -> AvroType:
        record = derive_record(list(schema), self._options.legacy_timestamps)
        return Union((NULL, record)) if nullable else record


class RegistryFormat(Format):
    """A format whose schemas a registry has, under the subject of the options or that of the topic."""

    Options = RegistryOptions
    options: RegistryOptions

    @property
    def depends_on_topic(self) -> bool:
        """Whether each topic has a subject of its own."""
        return self.options.subject is None

    def encoder(self, schema: pa.Schema) -> Encoder:
        """An encoder of rows of ``schema`` under the subject of the options; SchemaError when it cannot write them."""
        return self._encoder(schema, None)

    def encoder_for(self, schema: pa.Schema, side: SerializationContext) -> Encoder:
        """An encoder of rows of ``schema`` under the subject of the options or that of the topic."""
        return self._encoder(schema, side.subject)

    def _encoder(self, schema: pa.Schema, default_subject: str | None) -> Encoder:
        raise NotImplementedError
