"""Formats: decode message payloads into columns, and encode columns into payloads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from millrace.contracts.payloads import Payloads
from millrace.contracts.plugin import Plugin

ROW_KINDS = ("+I", "-U", "+U", "-D")
"""The row kinds: inserted, the old and the new row of an update, deleted; as in Flink's ``RowKind``."""


@dataclass(frozen=True, slots=True)
class MalformedMessage:
    """A message that could not be decoded: its index in the batch, and a readable reason."""

    index: int
    reason: str


@dataclass(frozen=True)
class Decoded:
    """The rows of a batch of messages.

    Attributes:
        rows: The rows, with exactly the decoder's schema.
        message_index: For each row, the index of its message, int32, in ascending order. None if every message gave
        exactly one row, so row i belongs to message i.
        row_kinds: For each row, ``+I``, ``-U``, ``+U`` or ``-D`` (string). None if all rows are insertions.
        errors: The messages that could not be decoded, in ascending order of their indexes. They have no rows.
        metadata: The requested metadata of each row, one column per key in the requested order. None if no metadata was
        requested.
    """

    rows: pa.RecordBatch
    message_index: pa.Int32Array | None = None
    row_kinds: pa.StringArray | None = None
    errors: tuple[MalformedMessage, ...] = ()
    metadata: pa.RecordBatch | None = None


class Decoder(ABC):
    """Decodes payloads into rows of one schema. Created once per worker and schema, and used for every batch."""

    @abstractmethod
    def decode(self, payloads: Payloads) -> Decoded:
        """Decode a batch of messages.

        A message can give no row (a tombstone, a blank payload), one row or several. Report a malformed message in
        ``errors``; it must not affect the rows of other messages. No payload may raise an exception, except
        `millrace.errors.SchemaMismatchError`.
        """

    def explain(self) -> str:
        """Describe how it decodes messages, and which ones it decodes more slowly."""
        return "the format does not say how it reads messages"


class Encoder(ABC):
    """Encodes rows of one schema into payloads. Created once per worker and schema, and used for every batch."""

    @abstractmethod
    def encode(self, rows: pa.RecordBatch, row_kinds: pa.StringArray | None = None) -> Payloads:
        """Encode a batch of rows into one payload per row. A null payload is a tombstone.

        Args:
            rows: The rows, with exactly the encoder's schema.
            row_kinds: For each row, ``+I``, ``-U``, ``+U`` or ``-D``. None if all rows are insertions. A format without
            row kinds raises MessageError for any other kind.

        Raises:
            MessageError: A value cannot be written; the message names the column and the row's index.
        """


@dataclass(frozen=True, slots=True)
class SerializationContext:
    """The use of an encoder's payloads: the topic that they are written to, and whether they are keys or values."""

    topic: str
    is_key: bool = False

    @property
    def subject(self) -> str:
        """The default subject of their schema in a schema registry (TopicNameStrategy)."""
        return f"{self.topic}-{'key' if self.is_key else 'value'}"


class Format(Plugin, ABC):
    """A message format, such as json.

    A format's options are given as ``<name>.<option>`` or ``value.<name>.<option>``.
    """

    def default_schema(self) -> pa.Schema | None:
        """Return the columns of a read without a user-defined schema. None if a schema is required."""
        return None

    def default_schema_for(self, context: SerializationContext) -> pa.Schema | None:
        """Return the columns of a read of one topic; called on the driver instead of `default_schema`.

        Formats whose columns do not depend on the topic need not override this.
        """
        return self.default_schema()

    @abstractmethod
    def decoder(self, schema: pa.Schema) -> Decoder:
        """Make a decoder to rows of ``schema``.

        Called on the driver to check the schema, and then once per worker.

        Raises:
            SchemaError: The format cannot decode to one of the columns; the message names it and its type.
        """

    @abstractmethod
    def encoder(self, schema: pa.Schema) -> Encoder:
        """Create an encoder for rows of ``schema``. Called like `decoder`, and raises the same exceptions."""

    @property
    def depends_on_topic(self) -> bool:
        """True when payloads depend on the topic or on being keys; then `encoder_for` creates the encoders."""
        return False

    def schema_header(self, *, is_key: bool) -> str | None:
        """Return the name of the header that may tell the schema of a payload; None, the default, if there is none.

        If a message has it, decoders get its value before the payload, whose own beginning then tells nothing.
        """
        return None

    def encoder_for(self, schema: pa.Schema, context: SerializationContext) -> Encoder:
        """Create an encoder for rows of ``schema`` for one topic. Called when the first row is written there.

        Formats whose payloads do not depend on the topic need not override this.
        """
        return self.encoder(schema)


class SchemaRegistryFormat(Format):
    """A format whose schemas a registry has, in the API of Confluent's schema registry."""

    @abstractmethod
    def request(self, path: str, body: object = None) -> Any:
        """Send a request to the registry, with the login and the TLS settings of the format's options.

        Args:
            path: The path behind the registry's URL, such as ``schemas/ids/7``.
            body: The content to post, as JSON; None for a request that only reads.

        Returns:
            The parsed answer; None if the registry does not have what is requested.

        Raises:
            RegistryError: The registry refuses, or could not be asked.
        """


class ConnectMessage(NamedTuple):
    """A message in the form of Kafka Connect's JSON converter.

    Attributes:
        value: Its ``payload``. Bytes are base64 strings, and numbers that JSON cannot express are strings such as
        ``NaN``.
        schema: Its ``schema``, as JSON. Messages with the same schema share the object.
    """

    value: dict[str, Any]
    schema: bytes


ConnectReader = Callable[[bytes], ConnectMessage | None]
"""Reads a message. Returns None for a tombstone, and raises MalformedMessageError if it cannot be decoded."""


class ChangelogFormat(Format):
    """A format whose messages are changes of rows. Decoded rows have row kinds, and encoded rows can have them."""

    def metadata(self) -> Mapping[str, pa.DataType]:
        """Return the metadata that messages contain besides their rows: Arrow types by key.

        In queries, keys are prefixed with the part of the message, as in ``value.source.table``. Here they have no
        prefix.
        """
        return {}

    @property
    def upserts(self) -> bool:
        """True where an update without its old row is its new row alone, ``+U``; by default it is malformed."""
        return False

    @abstractmethod
    def decoder(self, schema: pa.Schema, metadata: Sequence[str] = ()) -> Decoder:
        """Make a decoder to rows of ``schema``, with row kinds.

        Args:
            schema: The columns of the rows.
            metadata: The keys of `metadata` that `Decoded.metadata` must have.

        Raises:
            SchemaError: The format cannot decode to one of the columns; the message names it and its type.
        """

    def connect_reader(self) -> ConnectReader | None:
        """Return a reader of Debezium's changes with the types that their messages declare; called once per task.

        Change-data pipelines use it, because they find their tables while they read. The default is None, for formats
        whose messages do not declare types.
        """
        return None
