"""Decrypt Avro messages that rules of the registry encrypt."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

from millrace_formats.avro.reader.datum_reader import DatumReader
from millrace_formats.registry.encryption import Decryption


class AvroDecryption(Decryption):
    """Decrypt messages of one schema: see `Decryption`."""

    extras = "avro,rules"

    def _deserializer(self, client: Any, conf: dict[str, Any], rules: Any) -> Callable[[bytes, Any], Any]:
        from confluent_kafka.schema_registry.avro import AvroDeserializer

        # A record in a union of several is written again as that one
        deserializer = AvroDeserializer(client, return_record_name=True, conf=conf, rule_registry=rules)
        self._schema = deserializer._get_parsed_schema(self._encrypted.schema)
        return deserializer

    def _serialize(self, value: Any) -> bytes:
        from fastavro import schemaless_writer

        message = BytesIO()
        schemaless_writer(message, self._schema, value)
        return message.getvalue()


class DecryptingReader:
    """Read the values of encrypted messages.

    Args:
        decrypt: Decrypts a message.
        reader: Reads it then.
    """

    def __init__(self, decrypt: Decryption, reader: DatumReader) -> None:
        self._decrypt = decrypt
        self._reader = reader

    def read(self, payload: bytes, start: int) -> tuple[Any, ...] | None:
        """Read a message, whose frame ends at ``start``: see `DatumReader.read`."""
        return self._reader.read(self._decrypt(payload), 0)
