"""Read messages with a registry's frame as Kafka Connect's JSON converter would have written them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

from millrace.contracts import ConnectMessage
from millrace.errors import MalformedMessageError
from millrace_formats.avro.reader.connect_reader import connect_reader
from millrace_formats.avro.reader.datum_reader import Cursor, Read
from millrace_formats.avro.registry.decryption import AvroDecryption
from millrace_formats.avro.schema.connect_schema import connect_schema
from millrace_formats.avro.schema.model import AvroType, Record, describe_type, split_nullable
from millrace_formats.registry.frame import SchemaId, frame_size, schema_id_of
from millrace_formats.registry.schema_registry import SchemaNotFoundError, SchemaRegistry


class _SchemaReader(NamedTuple):
    read: Read
    schema: bytes
    decrypt: AvroDecryption | None = None

    def cursor(self, payload: bytes) -> Cursor:
        return Cursor(payload, frame_size(payload)) if self.decrypt is None else Cursor(self.decrypt(payload))


class ConnectMessages:
    """Read messages, each by the schema that its frame names.

    Args:
        registry: Returns the registry; called when the first message is read.
    """

    def __init__(self, registry: Callable[[], SchemaRegistry[AvroType]]) -> None:
        self._registry = registry
        self._readers: dict[SchemaId, _SchemaReader] = {}
        self._problems: dict[SchemaId, str] = {}

    def read(self, payload: bytes) -> ConnectMessage | None:
        """Read a message; None when it is empty or null.

        Raises:
            MalformedMessageError: It has no frame, its schema is missing or not a record's, or it is not of its schema.
            RegistryError: The registry could not be asked, or what decrypts the message is not known.
            MachineError: What decrypts the message is not installed.
        """
        if not payload:
            return None
        schema_id = schema_id_of(payload)
        reader = self._readers.get(schema_id) or self._open(schema_id)
        try:
            value = reader.read(reader.cursor(payload))
        except RecursionError:
            raise MalformedMessageError("nested too deeply") from None
        return None if value is None else ConnectMessage(value, reader.schema)

    def _open(self, schema_id: SchemaId) -> _SchemaReader:
        if schema_id in self._problems:
            raise MalformedMessageError(self._problems[schema_id])
        try:
            registry = self._registry()
            reader = _reader(schema_id, registry.schema(schema_id))
        except (SchemaNotFoundError, MalformedMessageError) as error:
            self._problems[schema_id] = str(error)
            raise MalformedMessageError(str(error)) from None
        encrypted = registry.encrypted(schema_id)
        self._readers[schema_id] = reader._replace(decrypt=AvroDecryption(encrypted)) if encrypted else reader
        return self._readers[schema_id]


@functools.lru_cache(maxsize=4096)
def _reader(schema_id: SchemaId, schema: AvroType) -> _SchemaReader:
    envelope = split_nullable(schema)[0]
    if not isinstance(envelope, Record):
        raise MalformedMessageError(
            f"schema {schema_id}: expected that of a record with before, after and op, found {describe_type(schema)}"
        )
    return _SchemaReader(connect_reader(schema), connect_schema(envelope))
