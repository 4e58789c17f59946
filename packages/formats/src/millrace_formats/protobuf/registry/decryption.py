"""Decrypt protobuf messages that rules of the registry encrypt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from millrace_formats.registry.encryption import Decryption, EncryptedSchema


class ProtobufDecryption(Decryption):
    """Decrypt messages of one type: see `Decryption`.

    Args:
        encrypted: The schema.
        message_class: The class of the messages.
    """

    extras = "protobuf,rules"

    def __init__(self, encrypted: EncryptedSchema, message_class: Any) -> None:
        self._message_class = message_class
        super().__init__(encrypted)

    def _deserializer(self, client: Any, conf: dict[str, Any], rules: Any) -> Callable[[bytes, Any], Any]:
        from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer

        return ProtobufDeserializer(self._message_class, conf, client, rule_registry=rules)

    def _serialize(self, value: Any) -> bytes:
        return bytes(value.SerializeToString())
