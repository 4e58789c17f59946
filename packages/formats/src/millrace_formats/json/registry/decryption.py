"""Decrypt JSON messages that rules of the registry encrypt."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import msgspec

from millrace_formats.registry.encryption import Decryption

# Keeps all digits of numbers
_DECODER = msgspec.json.Decoder(float_hook=Decimal)
_ENCODER = msgspec.json.Encoder(decimal_format="number")


class JsonDecryption(Decryption):
    """Decrypt messages of one schema: see `Decryption`."""

    extras = "json,rules"

    def _deserializer(self, client: Any, conf: dict[str, Any], rules: Any) -> Callable[[bytes, Any], Any]:
        from confluent_kafka.schema_registry.json_schema import JSONDeserializer

        return JSONDeserializer(
            None,
            schema_registry_client=client,
            conf={**conf, "validate": False},
            rule_registry=rules,
            json_decode=_DECODER.decode,
        )

    def _serialize(self, value: Any) -> bytes:
        return _ENCODER.encode(value)
