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
    """A message that could not be decoded: its index in the batch, and a reason for people."""

    index: int
    reason: str


@dataclass(frozen=True)
class Decoded:
    """The rows of a batch of messages.

    Attributes:
        rows: The rows, with exactly the decoder's schema.
        message_index: For each row the index of its message, int32, never decreasing; None when every message gave
            exactly one row, so that row i belongs to message i.
        row_kinds: For each row ``+I``, ``-U``, ``+U`` or ``-D`` (string); None when every row is an insertion.
        errors: The messages that could not be decoded, by ascending index. They have no rows.
        metadata: For each row the metadata that was asked for, a column each in that order; None when none was.
    """

    rows: pa.RecordBatch
    message_index: pa.Int32Array | None = None
    row_kinds: pa.StringArray | None = None
    errors: tuple[MalformedMessage, ...] = ()
    metadata: pa.RecordBatch | None = None


class Decoder(ABC):
    """Decode payloads into rows of one schema. Built once per worker and schema, used for every batch."""

    @abstractmethod
    def decode(self, payloads: Payloads) -> Decoded:
        """Decode a batch of messages.

        A message may give no row (a tombstone, a blank payload), one or many. A bad message becomes an entry of
        ``errors`` and never shifts another's row; nothing that the bytes hold may raise, except
        `millrace.errors.SchemaMismatchError`.
        """

    def explain(self) -> str:
        """Explain for people how it reads messages, and which ones it reads more slowly."""
        return "the format does not say how it reads messages"


class Encoder(ABC):
    """Encode rows of one schema into payloads. Built once per worker and schema, used for every batch."""

    @abstractmethod
    def encode(self, rows: pa.RecordBatch, row_kinds: pa.StringArray | None = None) -> Payloads:
        """Encode a batch of rows, one payload a row; a null payload is a tombstone.

        Args:
            rows: The rows, with exactly the encoder's schema.
            row_kinds: For each row ``+I``, ``-U``, ``+U`` or ``-D``; None when every row is an insertion. A format
                without row kinds refuses others with a MessageError.

        Raises:
            MessageError: A value cannot be written; the message names the column and the row's index.
        """


@dataclass(frozen=True, slots=True)
class SerializationContext:
    """The use of an encoder's payloads: as keys or values of the records of a topic."""

    topic: str
    is_key: bool = False

    @property
    def subject(self) -> str:
        """The default subject of their schema in schema registries (TopicNameStrategy)."""
        return f"{self.topic}-{'key' if self.is_key else 'value'}"


class Format(Plugin, ABC):
    """A message format, such as json.

    A format's options are given as ``<name>.<option>`` or ``value.<name>.<option>``.
    """

    def default_schema(self) -> pa.Schema | None:
        """Return the columns of a read without a schema of the user's; None when a schema must be given."""
        return None

    def default_schema_for(self, context: SerializationContext) -> pa.Schema | None:
        """Return the columns of a read of one topic; called on the driver instead of `default_schema`.

        A format whose columns are the same for all topics need not override this.
        """
        return self.default_schema()

    @abstractmethod
    def decoder(self, schema: pa.Schema) -> Decoder:
        """Make a decoder to rows of ``schema``.

        Called on the driver to check the schema, then once per worker.

        Raises:
            SchemaError: The format cannot decode to one of the columns; the message names it and its type.
        """

    @abstractmethod
    def encoder(self, schema: pa.Schema) -> Encoder:
        """Make an encoder of rows of ``schema``; called, and raising, as `decoder` is."""

    @property
    def depends_on_topic(self) -> bool:
        """True when payloads depend on the topic, or on their use as keys; then `encoder_for` makes the encoders."""
        return False

    def encoder_for(self, schema: pa.Schema, context: SerializationContext) -> Encoder:
        """Make an encoder of rows of ``schema`` for one topic, when the first row goes there.

        A format whose payloads are the same for all topics need not override this.
        """
        return self.encoder(schema)


class ConnectMessage(NamedTuple):
    """A message as Kafka Connect's JSON converter writes it.

    Attributes:
        value: Its ``payload``: bytes are texts in base64, numbers that JSON lacks are texts such as ``NaN``.
        schema: Its ``schema``, as JSON; messages of one schema share the object.
    """

    value: dict[str, Any]
    schema: bytes


ConnectReader = Callable[[bytes], ConnectMessage | None]
"""Reads a message; None when it holds none, as a tombstone. MalformedMessageError when it cannot be decoded."""


class ChangelogFormat(Format):
    """A format whose messages are changes of rows: decoded rows have row kinds, encoded rows may have them."""

    def metadata(self) -> Mapping[str, pa.DataType]:
        """Return the metadata that messages carry beside their rows: the Arrow types by key.

        A query prefixes a key with the part of the message, as in ``value.source.table``; here it has no prefix.
        """
        return {}

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

        Change-data pipelines need it, since their tables are not known before they are read. None, the default, for a
        format whose messages do not declare types.
        """
        return None
