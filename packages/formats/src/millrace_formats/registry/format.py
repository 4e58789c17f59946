"""The base of the formats whose schemas a registry has."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from millrace.contracts import Encoder, SchemaRegistryFormat, SerializationContext
from millrace.errors import RegistryError, SchemaError
from millrace_formats.registry.client import RegistryRefusalError, registry_client
from millrace_formats.registry.options import RegistryOptions
from millrace_formats.registry.subjects import SubjectName

_NOT_FOUND = range(40400, 40500)


class RegistryFormat(SchemaRegistryFormat):
    """A format whose schemas a registry has, under the subject of the options or that of the topic."""

    Options = RegistryOptions
    options: RegistryOptions
    name: str

    @property
    def depends_on_topic(self) -> bool:
        """True when each topic has a subject of its own."""
        return self.options.subject is None

    def schema_header(self, *, is_key: bool) -> str | None:
        """Return the header of Confluent's ``HeaderSchemaIdSerializer``, whose value is the frame of a payload."""
        return f"__{'key' if is_key else 'value'}_schema_id"

    def request(self, path: str, body: object = None) -> Any:
        """Send a request to the registry: see `SchemaRegistryFormat.request`."""

        def send(library: Any) -> Any:
            client = library._rest_client
            return client.get(path) if body is None else client.post(path, body)

        try:
            return registry_client(self.name, self.options).call(send, path)
        except RegistryRefusalError as error:
            if error.code in _NOT_FOUND:
                return None
            raise RegistryError(f"the schema registry refuses {path}: {error}") from None

    def default_schema(self) -> pa.Schema | None:
        """Return the columns of the latest schema of the options' subject; None when there is none."""
        return None if self.options.subject is None else self._columns(self.options.subject)

    def default_schema_for(self, context: SerializationContext) -> pa.Schema | None:
        """Return the columns of the latest schema of the topic's or the options' subject; SchemaError without any."""
        if self.options.schema is not None:
            return self._columns(context.subject)
        return self._known_columns(self._subject(context).of(self._record))

    def encoder(self, schema: pa.Schema) -> Encoder:
        """Return an encoder under the subject of the options; SchemaError for columns that it cannot write."""
        return self._encoder(schema, self._subject(None))

    def encoder_for(self, schema: pa.Schema, context: SerializationContext) -> Encoder:
        """Return an encoder under the subject of the options or that of the topic; SchemaError as of `encoder`."""
        return self._encoder(schema, self._subject(context))

    @property
    def _record(self) -> str | None:
        """The name of the record that messages have, where options tell it."""
        return None

    def _subject(self, context: SerializationContext | None) -> SubjectName:
        return SubjectName(self.name, self.options, context)

    def _known_columns(self, subject: str) -> pa.Schema:
        columns = self._columns(subject)
        if columns is None:
            raise SchemaError(
                f"the schema registry has no schema with columns for subject {subject!r}: write some messages, name "
                f"another subject by option 'subject' of the format, or give the columns with "
                f".schema('id BIGINT, name STRING, ...')"
            )
        return columns

    def _encoder(self, schema: pa.Schema, subject: SubjectName) -> Encoder:
        raise NotImplementedError

    def _columns(self, subject: str) -> pa.Schema | None:
        raise NotImplementedError
