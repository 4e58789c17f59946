"""Headers that name the schemas of keys and values, as Confluent's serializers may write them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa


class MessageSchemas(NamedTuple):
    """The values of such headers of a message, empty without them.

    Attributes:
        key: The beginning of its key.
        value: The beginning of its value.
    """

    key: bytes = b""
    value: bytes = b""


IN_PAYLOADS = MessageSchemas()
"""The schemas of a message whose headers name none."""


@dataclass(frozen=True)
class SchemaHeaders:
    """The names of the headers.

    Attributes:
        key: The header for keys.
        value: The header for values.
    """

    key: str
    value: str

    def of(self, headers: Iterable[tuple[str, bytes | None]]) -> MessageSchemas:
        """Return the schemas that the headers of a message name; the last one of a name counts."""
        by_name = dict(headers)
        return MessageSchemas(by_name.get(self.key) or b"", by_name.get(self.value) or b"")

    def of_all(self, headers: pa.MapArray) -> list[MessageSchemas] | None:
        """Return the schemas for each message; None where no message has headers."""
        if headers.offsets[0] == headers.offsets[-1]:
            return None
        return [self.of(pairs) if pairs else IN_PAYLOADS for pairs in headers.to_pylist()]


def with_schema(schema: bytes, payload: bytes | None) -> bytes | None:
    """Return a key or a value behind the header that names its schema."""
    return schema + payload if schema and payload is not None else payload
