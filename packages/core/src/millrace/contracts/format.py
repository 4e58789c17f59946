"""Formats: how message payloads become columns and columns become payloads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from millrace.contracts.payloads import Payloads
from millrace.contracts.plugin import Plugin

ROW_KINDS = ("+I", "-U", "+U", "-D")
"""The row kinds: inserted, the old and the new row of an update, deleted."""


@dataclass(frozen=True, slots=True)
class MalformedMessage:
    """A message that could not be decoded: its index in the batch, and why, in words for a person."""

    index: int
    reason: str


@dataclass(frozen=True)
class Decoded:
    """What a batch of messages decoded to.

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
    """Turns payloads into rows of one schema. Built once per worker and schema, used for every batch."""

    @abstractmethod
    def decode(self, payloads: Payloads) -> Decoded:
        """Decode a batch of messages.

        A message may give no row (a tombstone, a blank payload), one or many. A bad message becomes an entry of
        ``errors`` and never shifts another's row; nothing that the bytes hold may raise, except
        `millrace.errors.SchemaMismatchError`.
        """

    def explain(self) -> str:
        """How it reads messages, and which ones it reads more slowly, in words for a person."""
        return "the format does not say how it reads messages"


class Encoder(ABC):
    """Turns rows of one schema into payloads. Built once per worker and schema, used for every batch."""

    @abstractmethod
    def encode(self, rows: pa.RecordBatch, row_kinds: pa.StringArray | None = None) -> Payloads:
        """Encode a batch of rows, one payload a row; a null payload is a tombstone.

        Args:
            rows: The rows, with exactly the encoder's schema.
            row_kinds: For each row ``+I``, ``-U``, ``+U`` or ``-D``; None when every row is an insertion. A format
                that knows insertions only refuses others by a MessageError.

        Raises:
            MessageError: A value cannot be written; the message names the column and the row's index.
        """


@dataclass(frozen=True, slots=True)
class SerializationContext:
    """What an encoder's payloads become: the keys or the values of the records of a topic."""

    topic: str
    is_key: bool = False

    @property
    def subject(self) -> str:
        """The name under which schema registries know the schema of these payloads, unless told otherwise."""
        return f"{self.topic}-{'key' if self.is_key else 'value'}"


class Format(Plugin, ABC):
    """A message format, such as json.

    A format's options are given as ``<name>.<option>`` or ``value.<name>.<option>``.
    """

    def default_schema(self) -> pa.Schema | None:
        """The columns that a read has when the user gives no schema, or None when a schema must be given."""
        return None

    @abstractmethod
    def decoder(self, schema: pa.Schema) -> Decoder:
        """A decoder to rows of ``schema``.

        Called on the driver to check the schema, then once per worker.

        Raises:
            SchemaError: The format cannot decode to one of the columns; the message names it and its type.
        """

    @abstractmethod
    def encoder(self, schema: pa.Schema) -> Encoder:
        """An encoder of rows of ``schema``; called, and raising, as `decoder` is."""

    @property
    def depends_on_topic(self) -> bool:
        """Whether rows give other payloads in another topic, or as keys; then `encoder_for` makes their encoders."""
        return False

    def encoder_for(self, schema: pa.Schema, side: SerializationContext) -> Encoder:
        """An encoder of rows of ``schema`` for one topic, made when the first row goes there.

        A format whose payloads are the same everywhere need not know of this.
        """
        return self.encoder(schema)


class ChangelogFormat(Format):
    """A format whose messages are changes of rows: what it decodes has row kinds, and what it encodes may have."""

    def metadata(self) -> Mapping[str, pa.DataType]:
        """What a message tells beside its rows: the types of the keys that a read may ask for.

        A query names a key after the side whose format it is, as in ``value.source.table``; here it stands without.
        """
        return {}

    @abstractmethod
    def decoder(self, schema: pa.Schema, metadata: Sequence[str] = ()) -> Decoder:
        """A decoder to rows of ``schema``, with row kinds.

        Args:
            schema: The columns of the rows.
            metadata: Keys of `metadata`, which `Decoded.metadata` has to give.

        Raises:
            SchemaError: The format cannot decode to one of the columns; the message names it and its type.
        """
