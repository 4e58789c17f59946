"""The base of the formats whose schemas a registry has."""

from __future__ import annotations

import pyarrow as pa

from millrace.contracts import Encoder, Format, SerializationContext
from millrace.errors import OptionsError, SchemaError
from millrace_formats.registry.options import RegistryOptions


class RegistryFormat(Format):
    """A format whose schemas a registry has, under the subject of the options or that of the topic."""

    Options = RegistryOptions
    options: RegistryOptions

    @property
    def depends_on_topic(self) -> bool:
        """True when each topic has a subject of its own."""
        return self.options.subject is None

    def schema_header(self, *, is_key: bool) -> str | None:
        """Return the header of Confluent's ``HeaderSchemaIdSerializer``, whose value is the frame of a payload."""
        return f"__{'key' if is_key else 'value'}_schema_id"

    def default_schema(self) -> pa.Schema | None:
        """Return the columns of the latest schema of the options' subject; None when there is none."""
        return None if self.options.subject is None else self._columns(self.options.subject)

    def default_schema_for(self, context: SerializationContext) -> pa.Schema | None:
        """Return the columns of the latest schema of the topic's or the options' subject; SchemaError without any."""
        return self._known_columns(self.options.subject or context.subject)

    def encoder(self, schema: pa.Schema) -> Encoder:
        """Return an encoder under the subject of the options; SchemaError for columns that it cannot write."""
        return self._encoder(schema, self.options.subject)

    def encoder_for(self, schema: pa.Schema, context: SerializationContext) -> Encoder:
        """Return an encoder under the subject of the options or that of the topic; SchemaError as of `encoder`."""
        return self._encoder(schema, self.options.subject or context.subject)

    def _known_columns(self, subject: str) -> pa.Schema:
        columns = self._columns(subject)
        if columns is None:
            raise SchemaError(
                f"the schema registry has no schema with columns for subject {subject!r}: write some messages, name "
                f"another subject by option 'subject' of the format, or give the columns with "
                f".schema('id BIGINT, name STRING, ...')"
            )
        return columns

    def _encoder(self, schema: pa.Schema, subject: str | None) -> Encoder:
        raise NotImplementedError

    def _columns(self, subject: str) -> pa.Schema | None:
        raise NotImplementedError


def require_subject(format_name: str, subject: str | None) -> str:
    """Return a subject; OptionsError when there is none."""
    if subject is None:
        raise OptionsError(format_name, ("option 'subject' is required where rows are not written to a topic",))
    return subject
