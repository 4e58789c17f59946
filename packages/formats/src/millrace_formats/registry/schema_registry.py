"""Look up the schema of an id, and the id of a schema, in a schema registry."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import UUID

from millrace.errors import RegistryError
from millrace_formats.registry.client import RegistryClient, RegistryRefusalError
from millrace_formats.registry.encryption import EncryptedSchema, encrypting_rules
from millrace_formats.registry.frame import SchemaId

# The second one is of the mock registry of Confluent's client
_SCHEMA_NOT_FOUND = (40403, 40400)
_SUBJECT_NOT_FOUND, _VERSION_NOT_FOUND = 40401, 40402
_NOT_FOUND = 404

_GUID_HINT = (
    ", which may know no GUIDs of schemas, such as this one: then set value.schema.id.serializer and "
    "key.schema.id.serializer of the producer to Confluent's PrefixSchemaIdSerializer"
)

S = TypeVar("S")


class SchemaNotFoundError(Exception):
    """The registry has no schema of the expected type for an id; says why."""


class SchemaReference(NamedTuple):
    """A schema that another one refers to.

    Attributes:
        name: Its name in the other one, such as an imported file's.
        text: The schema.
        subject: Its subject.
        version: Its version there.
    """

    name: str
    text: str
    subject: str
    version: int


class SchemaText(NamedTuple):
    """A schema as the registry has it.

    Attributes:
        text: The schema.
        references: The schemas that it refers to, directly or not, each after those that it refers to itself.
        direct: The names of those that it refers to directly.
    """

    text: str
    references: tuple[SchemaReference, ...] = ()
    direct: tuple[str, ...] = ()


class Latest(NamedTuple, Generic[S]):
    """The latest version of a subject: its schema's id, the schema as the registry has it, and parsed."""

    schema_id: int
    text: SchemaText
    schema: S


class SchemaRegistry(Generic[S]):
    """A registry that is asked once for each schema.

    Args:
        client: The registry's client.
        schema_type: The type of the schemas: AVRO, PROTOBUF or JSON.
        parse: Parses a schema; raises ValueError.
        fetch_format: The format in which the registry is asked for schemas, where it knows several.
    """

    def __init__(
        self,
        client: RegistryClient,
        schema_type: str,
        parse: Callable[[SchemaText], S],
        fetch_format: str | None = None,
    ) -> None:
        self._client = client
        self._type = schema_type
        self._parse = parse
        self._fetch_format = fetch_format
        self._schemas: dict[SchemaId, S] = {}
        self._encrypted: dict[SchemaId, EncryptedSchema] = {}

    def schema(self, schema_id: SchemaId) -> S:
        """Return the schema of an id or a GUID.

        Raises:
            SchemaNotFoundError: There is none, or it is of another type.
            RegistryError: The registry could not be asked.
        """
        if schema_id not in self._schemas:
            self._schemas[schema_id] = self._fetch(schema_id)
        return self._schemas[schema_id]

    def encrypted(self, schema_id: SchemaId) -> EncryptedSchema | None:
        """Return a schema with its rules if they encrypt its messages, None otherwise; RegistryError as of `schema`."""
        if schema_id not in self._schemas:
            with suppress(SchemaNotFoundError):
                self.schema(schema_id)
        return self._encrypted.get(schema_id)

    def latest(self, subject: str) -> Latest[S] | None:
        """Return the latest version of a subject, None when it has none; errors as of `schema`."""
        what = f"the latest schema of subject {subject!r}"
        try:
            registered = self._client.call(
                lambda client: client.get_version(subject, "latest", fmt=self._fetch_format), what
            )
        except RegistryRefusalError as error:
            if error.code in (_SUBJECT_NOT_FOUND, _VERSION_NOT_FOUND):
                return None
            raise RegistryError(f"the schema registry at {self._client.address} has no {what}: {error}") from None
        text = self._text(registered.schema, what)
        return Latest(int(registered.schema_id), text, self._parsed(text, what))

    def register(self, subject: str, text: str, references: Sequence[SchemaReference] = (), *, is_new: bool) -> int:
        """Return the id of a schema under a subject.

        Args:
            subject: The subject.
            text: The schema.
            references: The schemas that it refers to directly.
            is_new: Whether to register the schema if the subject does not have it.

        Raises:
            RegistryError: The registry does not accept the schema, in its own words, or the subject does not have it,
                or the registry could not be asked.
        """
        from confluent_kafka.schema_registry import Schema, SchemaReference

        named = [SchemaReference(reference.name, reference.subject, reference.version) for reference in references]
        schema = Schema(text, self._type, named)
        try:
            return self._register(subject, schema) if is_new else self._look_up(subject, schema)
        except RegistryRefusalError as error:
            raise RegistryError(self._refusal(subject, error, is_new)) from None

    def missing(self, subject: str, problem: str) -> RegistryError:
        """Make the error of a subject that has not the schema of some rows, and must not get it."""
        return RegistryError(
            f"subject {subject!r} of the schema registry at {self._client.address} does not have the schema of the "
            f"rows: {problem}. Register it first, or set option 'auto.register.schemas' to true"
        )

    def check_clear(self, subject: str) -> None:
        """Check that no rule of a subject encrypts what is written; RegistryError otherwise, and as of `latest`."""
        with suppress(RegistryRefusalError):
            latest = self._client.call(lambda client: client.get_version(subject, "latest"), f"subject {subject!r}")
            if rules := encrypting_rules(latest.schema, "WRITE"):
                raise RegistryError(
                    f"subject {subject!r} of the schema registry at {self._client.address} has the rule {rules[0]!r}, "
                    f"which encrypts messages, and messages cannot be encrypted here: write to another topic or subject"
                )

    def _register(self, subject: str, schema: Any) -> int:
        try:
            return self._client.call(
                lambda client: int(client.register_schema(subject, schema)), f"subject {subject!r}"
            )
        except RegistryRefusalError:
            # When tasks create a subject at the same moment, Apicurio's registry refuses all but one of them
            with suppress(RegistryRefusalError):
                return self._look_up(subject, schema)
            raise

    def _look_up(self, subject: str, schema: Any) -> int:
        """Return the id of a schema that a subject has, if need be spelt in another way."""
        what = f"the id of a schema of subject {subject!r}"
        try:
            return self._client.call(functools.partial(_look_up, subject, schema, False), what)
        except RegistryRefusalError as error:
            if error.code not in _SCHEMA_NOT_FOUND:
                raise
        return self._client.call(functools.partial(_look_up, subject, schema, True), what)

    def _refusal(self, subject: str, error: RegistryRefusalError, is_new: bool) -> str:
        if is_new:
            return (
                f"the schema registry at {self._client.address} does not accept the schema of the rows for subject "
                f"{subject!r}: {error}. Change the columns, or the compatibility of the subject, or give a schema by "
                f"option 'schema'"
            )
        return str(self.missing(subject, str(error)))

    def _fetch(self, schema_id: SchemaId) -> S:
        what = f"schema {schema_id}"
        request = functools.partial(_get_schema, schema_id, self._fetch_format)
        try:
            schema = self._client.call(request, what)
        except RegistryRefusalError as error:
            if error.code in _SCHEMA_NOT_FOUND:
                problem = f"{what} is not in the registry at {self._client.address}"
                raise SchemaNotFoundError(problem + (_GUID_HINT if isinstance(schema_id, UUID) else "")) from None
            raise RegistryError(f"the schema registry at {self._client.address} has no {what}: {error}") from None
        if rules := encrypting_rules(schema, "READ"):
            self._encrypted[schema_id] = EncryptedSchema(self._client, schema_id, schema, rules)
        return self._parsed(self._text(schema, what), what)

    def _parsed(self, text: SchemaText, what: str) -> S:
        try:
            return self._parse(text)
        except ValueError as error:
            raise SchemaNotFoundError(f"{what} is not {_SCHEMAS[self._type]}: {error}") from None

    def _text(self, schema: Any, what: str) -> SchemaText:
        if (schema.schema_type or "AVRO") != self._type:
            raise SchemaNotFoundError(f"{what} is of type {schema.schema_type or 'AVRO'}, expected {self._type}")
        references: dict[tuple[str, int], SchemaReference] = {}
        try:
            self._add_references(schema, references)
        except RegistryRefusalError as error:
            raise RegistryError(f"the schema registry at {self._client.address} has no {what}: {error}") from None
        direct = tuple(reference.name for reference in schema.references or ())
        return SchemaText(schema.schema_str, tuple(references.values()), direct)

    def _add_references(self, schema: Any, references: dict[tuple[str, int], SchemaReference]) -> None:
        for reference in schema.references or ():
            key = (reference.subject, reference.version)
            if key not in references:
                request = functools.partial(_get_version, *key, self._fetch_format)
                referred = self._client.call(request, f"subject {key[0]!r}, version {key[1]}").schema
                self._add_references(referred, references)
                references[key] = SchemaReference(reference.name, referred.schema_str, *key)


_SCHEMAS = {"AVRO": "an Avro schema", "PROTOBUF": "a protobuf schema", "JSON": "a JSON Schema"}


def _look_up(subject: str, schema: Any, is_normalized: bool, client: Any) -> int:
    return int(client.lookup_schema(subject, schema, normalize_schemas=is_normalized).schema_id)


def _get_schema(schema_id: SchemaId, fetch_format: str | None, client: Any) -> Any:
    from confluent_kafka.schema_registry.error import SchemaRegistryError

    if not isinstance(schema_id, UUID):
        return client.get_schema(schema_id, fmt=fetch_format)
    try:
        return client.get_schema_by_guid(str(schema_id), fmt=fetch_format)
    except SchemaRegistryError as error:
        # A registry that knows no GUIDs does not know this address
        if error.http_status_code == _NOT_FOUND:
            raise RegistryRefusalError(str(error.error_message), _SCHEMA_NOT_FOUND[0]) from None
        raise


def _get_version(subject: str, version: int | str, fetch_format: str | None, client: Any) -> Any:
    return client.get_version(subject, version, fmt=fetch_format)
