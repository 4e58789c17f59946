"""Look up the schema of an id and the id of a schema in a schema registry."""

from __future__ import annotations

import functools
from typing import Any

from millrace.errors import RegistryError
from millrace_formats.avro.registry.client import RegistryClient, RegistryRefusalError, registry_client
from millrace_formats.avro.registry.options import RegistryOptions
from millrace_formats.avro.schema.model import AvroType
from millrace_formats.avro.schema.parser import parse_schema

_SCHEMA_NOT_FOUND = 40403


class SchemaNotFoundError(Exception):
    """The registry has no Avro schema for an id; says why."""


class SchemaRegistry:
    """A registry that is asked once for each schema.

    Args:
        client: The registry's client.
    """

    def __init__(self, client: RegistryClient) -> None:
        self._client = client
        self._schemas: dict[int, AvroType] = {}

    def schema(self, schema_id: int) -> AvroType:
        """Return the schema of an id.

        Raises:
            SchemaNotFoundError: There is none, or it is not an Avro schema.
            RegistryError: The registry could not be asked.
        """
        if schema_id not in self._schemas:
            self._schemas[schema_id] = self._fetch(schema_id)
        return self._schemas[schema_id]

    def register(self, subject: str, text: str, *, is_new: bool) -> int:
        """Return the id of a schema under a subject.

        Args:
            subject: The subject.
            text: The schema as JSON.
            is_new: Whether to register the schema if the subject does not have it.

        Raises:
            RegistryError: The registry does not accept the schema, in its own words, or the subject does not have it,
                or the registry could not be asked.
        """
        from confluent_kafka.schema_registry import Schema

        schema = Schema(text, "AVRO")
        try:
            if is_new:
                return self._client.call(lambda client: int(client.register_schema(subject, schema)), repr(subject))
            return self._client.call(lambda client: int(client.lookup_schema(subject, schema).schema_id), repr(subject))
        except RegistryRefusalError as error:
            raise RegistryError(self._refusal(subject, error, is_new)) from None

    def _refusal(self, subject: str, error: RegistryRefusalError, is_new: bool) -> str:
        if is_new:
            return (
                f"the schema registry at {self._client.address} does not accept the schema of the rows for subject "
                f"{subject!r}: {error}. Change the columns, or the compatibility of the subject, or give a schema by "
                f"option 'schema'"
            )
        return (
            f"subject {subject!r} of the schema registry at {self._client.address} does not have the schema of the "
            f"rows: {error}. Register it first, or set option 'auto.register.schemas' to true"
        )

    def _fetch(self, schema_id: int) -> AvroType:
        what = f"schema {schema_id}"
        try:
            schema = self._client.call(lambda client: client.get_schema(schema_id), what)
            if schema.schema_type not in (None, "AVRO"):
                raise SchemaNotFoundError(f"{what} is of type {schema.schema_type}, expected AVRO")
            return parse_schema(schema.schema_str, self._references(schema))
        except RegistryRefusalError as error:
            if error.code == _SCHEMA_NOT_FOUND:
                raise SchemaNotFoundError(f"{what} is not in the registry at {self._client.address}") from None
            raise RegistryError(f"the schema registry at {self._client.address} has no {what}: {error}") from None
        except ValueError as error:
            raise SchemaNotFoundError(f"{what} is not an Avro schema: {error}") from None

    def _references(self, schema: Any) -> list[str]:
        """Return the JSON of the schemas that a schema refers to, each after those that it refers to itself."""
        texts: dict[tuple[str, int], str] = {}
        self._add_references(schema, texts)
        return list(texts.values())

    def _add_references(self, schema: Any, texts: dict[tuple[str, int], str]) -> None:
        for reference in schema.references or ():
            key = (reference.subject, reference.version)
            if key not in texts:
                request = functools.partial(_get_version, *key)
                referred = self._client.call(request, f"subject {key[0]!r}, version {key[1]}").schema
                self._add_references(referred, texts)
                texts[key] = referred.schema_str


def _get_version(subject: str, version: int, client: Any) -> Any:
    return client.get_version(subject, version)


@functools.lru_cache(maxsize=16)
def registry_for(format_name: str, options: RegistryOptions) -> SchemaRegistry:
    """Return this process's registry for some options.

    Raises:
        OptionsError: The options cannot be used.
    """
    return SchemaRegistry(registry_client(format_name, options))
