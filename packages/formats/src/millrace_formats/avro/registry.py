"""What the formats want of a schema registry: the schema of an id, and the id of a schema."""

from __future__ import annotations

import functools
from typing import Any

from millrace.errors import RegistryError
from millrace_formats.avro.model import AvroType
from millrace_formats.avro.parse import parse_schema
from millrace_formats.avro.registry_client import RefusedError, RegistryClient, registry_client
from millrace_formats.avro.registry_options import RegistryOptions

_SCHEMA_NOT_FOUND = 40403


class NoSchemaError(Exception):
    """An id has no schema that could be read by; says why."""


class Registry:
    """A registry, asked once for each schema.

    Args:
        client: Asks it.
    """

    def __init__(self, client: RegistryClient) -> None:
        self._client = client
        self._schemas: dict[int, AvroType] = {}

    def schema(self, schema_id: int) -> AvroType:
        """The schema of an id.

        Raises:
            NoSchemaError: There is none, or it is not one of Avro's.
            RegistryError: The registry could not be asked.
        """
        if schema_id not in self._schemas:
            self._schemas[schema_id] = self._fetch(schema_id)
        return self._schemas[schema_id]

    def register(self, subject: str, text: str, *, is_new: bool) -> int:
        """The id of a schema under a subject.

        Args:
            subject: The subject.
            text: The schema.
            is_new: Whether it is registered where the subject does not have it.

        Raises:
            RegistryError: The registry does not accept it, in its own words, or the subject does not have it; or it
                could not be asked.
        """
        from confluent_kafka.schema_registry import Schema

        schema = Schema(text, "AVRO")
        try:
            if is_new:
                return self._client.call(lambda client: int(client.register_schema(subject, schema)), repr(subject))
            return self._client.call(lambda client: int(client.lookup_schema(subject, schema).schema_id), repr(subject))
        except RefusedError as error:
            raise RegistryError(self._refusal(subject, error, is_new)) from None

    def _refusal(self, subject: str, error: RefusedError, is_new: bool) -> str:
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
            found = self._client.call(lambda client: client.get_schema(schema_id), what)
            if found.schema_type not in (None, "AVRO"):
                raise NoSchemaError(f"{what} is of type {found.schema_type}, not of Avro's")
            return parse_schema(found.schema_str, self._references(found))
        except RefusedError as error:
            if error.code == _SCHEMA_NOT_FOUND:
                raise NoSchemaError(f"{what} is not in the registry at {self._client.address}") from None
            raise RegistryError(f"the schema registry at {self._client.address} has no {what}: {error}") from None
        except ValueError as error:
            raise NoSchemaError(f"{what} is no Avro schema: {error}") from None

    def _references(self, schema: Any) -> list[str]:
        """The texts of the schemas that one refers to, each after those that it refers to itself."""
        found: dict[tuple[str, int], str] = {}
        self._add_references(schema, found)
        return list(found.values())

    def _add_references(self, schema: Any, found: dict[tuple[str, int], str]) -> None:
        for reference in schema.references or ():
            key = (reference.subject, reference.version)
            if key not in found:
                ask = functools.partial(_version, *key)
                inner = self._client.call(ask, f"subject {key[0]!r}, version {key[1]}").schema
                self._add_references(inner, found)
                found[key] = inner.schema_str


def _version(subject: str, version: int, client: Any) -> Any:
    return client.get_version(subject, version)


@functools.lru_cache(maxsize=16)
def registry_for(format_name: str, options: RegistryOptions) -> Registry:
    """This process's registry for some options.

    Raises:
        OptionsError: They cannot be used.
    """
    return Registry(registry_client(format_name, options))
