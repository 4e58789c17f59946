"""Make decoders and encoders of framed messages."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from millrace.contracts import Decoder, Encoder, Payloads
from millrace.errors import MalformedMessageError, OptionsError, RegistryError, SchemaError
from millrace_formats.protobuf.registry.decryption import ProtobufDecryption
from millrace_formats.protobuf.registry.derivation import (
    MESSAGE_NAME,
    check_columns,
    derive_file,
    extend_file,
    imports_of,
)
from millrace_formats.protobuf.registry.frame import message_frame, message_path, split_message
from millrace_formats.protobuf.registry.options import ProtobufRegistryOptions
from millrace_formats.protobuf.registry.projection import ProjectingDecoder
from millrace_formats.protobuf.registry.proto_text import proto_text
from millrace_formats.protobuf.registry.schemas import (
    ProtobufSchema,
    parse_schema,
    protobuf_registry,
)
from millrace_formats.protobuf.schema.types import default_schema
from millrace_formats.protobuf.writer.encoder import ProtobufEncoder
from millrace_formats.registry.frame import schema_id_of
from millrace_formats.registry.framed_decoder import DecryptingDecoder, FramedDecoder
from millrace_formats.registry.schema_registry import Latest, SchemaNotFoundError, SchemaRegistry, SchemaText
from millrace_formats.registry.subjects import SubjectName
from millrace_formats.shared.insert_only import check_insertions

_HOW = "many messages of one schema at once; one by one those that ptars may not read exactly, and malformed ones"


class _WriteType(NamedTuple):
    """The frame and the class of the messages of a write."""

    frame: bytes
    message_class: Any


class ProtobufRegistryCodec:
    """Make decoders and encoders of framed messages.

    Args:
        format_name: The format's name.
        options: Its options.

    Raises:
        OptionsError: The schema of the options is not valid.
    """

    def __init__(self, format_name: str, options: ProtobufRegistryOptions) -> None:
        self._name = format_name
        self._options = options
        self._given = None if options.schema is None else _given_schema(format_name, options)

    def decoder(self, schema: pa.Schema) -> Decoder:
        """Return a decoder; SchemaError when a column cannot be read."""
        check_columns(self._name, schema)
        if self._given is None:
            return FramedDecoder(schema, split_message, functools.partial(self._decoder_of, schema), _HOW)
        # As protobuf's own libraries do, messages of every version are read by the given type
        message_class = self._message_class(self._given)
        decoder = ProjectingDecoder(schema, message_class, self._options)
        return FramedDecoder(schema, split_message, lambda frame: self._in_clear(frame, message_class, decoder), _HOW)

    def encoder(self, schema: pa.Schema, subject: SubjectName) -> Encoder:
        """Return an encoder; SchemaError when a column cannot be written."""
        check_columns(self._name, schema)
        if self._given is not None:
            ProtobufEncoder(schema, self._message_class(self._given), self._options)
        return FramedEncoder(self._name, schema, self._options, lambda: self._write_type(schema, subject))

    def columns(self, subject: str) -> pa.Schema | None:
        """Return a column for each field of the latest schema of a subject, or of the given one."""
        schema = self._given
        if schema is None:
            latest = self._latest(subject)
            if latest is None:
                return None
            schema = latest.schema
        return default_schema(self._message_class(schema).DESCRIPTOR)

    def _registry(self) -> SchemaRegistry[ProtobufSchema]:
        return protobuf_registry(self._name, self._options)

    def _decoder_of(self, schema: pa.Schema, frame: bytes) -> Decoder:
        schema_id = schema_id_of(frame)
        try:
            message_class = self._registry().schema(schema_id).message_class(message_path(frame))
            decoder = ProjectingDecoder(schema, message_class, self._options)
        except SchemaNotFoundError as error:
            raise MalformedMessageError(str(error)) from None
        except (ValueError, SchemaError) as error:
            raise MalformedMessageError(f"schema {schema_id}: {error}") from None
        return self._in_clear(frame, message_class, decoder)

    def _in_clear(self, frame: bytes, message_class: Any, decoder: Decoder) -> Decoder:
        """Return a decoder of messages that may be encrypted."""
        encrypted = self._registry().encrypted(schema_id_of(frame))
        return DecryptingDecoder(frame, ProtobufDecryption(encrypted, message_class), decoder) if encrypted else decoder

    def _message_class(self, schema: ProtobufSchema) -> Any:
        try:
            return schema.message_class(schema.path_of(self._options.message_name))
        except ValueError as error:
            raise OptionsError(self._name, (f"option 'message-name': the schema is invalid: {error}",)) from None

    def _latest(self, subject: str) -> Latest[ProtobufSchema] | None:
        try:
            return self._registry().latest(subject)
        except SchemaNotFoundError as error:
            raise RegistryError(str(error)) from None

    def _write_type(self, schema: pa.Schema, subject_name: SubjectName) -> _WriteType:
        """Return the type of the messages of a write, registered where that is needed and allowed."""
        if self._given is not None and self._options.schema is not None:
            path = self._given.path_of(self._options.message_name)
            message_class = self._given.message_class(path)
            subject = subject_name.of(message_class.DESCRIPTOR.full_name)
            self._registry().check_clear(subject)
            schema_id = self._registry().register(subject, self._options.schema, is_new=self._options.auto_register)
            return _WriteType(message_frame(schema_id, path), message_class)
        subject = subject_name.of(self._options.message_name or MESSAGE_NAME)
        self._registry().check_clear(subject)
        latest = self._latest(subject)
        if latest is None:
            if not self._options.auto_register:
                raise self._registry().missing(subject, "it has no schema")
            file = derive_file(list(schema))
            return self._registered(subject, ProtobufSchema((*imports_of(file), file)), (0,), SchemaText(""))
        try:
            path = latest.schema.path_of(self._options.message_name)
        except ValueError as error:
            raise RegistryError(f"the latest schema of subject {subject!r} cannot be written: {error}") from None
        extended = extend_file(latest.schema, path, list(schema))
        if extended is None:
            return _WriteType(message_frame(latest.schema_id, path), latest.schema.message_class(path))
        if not self._options.auto_register:
            raise self._registry().missing(subject, "its latest schema has no fields for some of the columns")
        files = {file.name: file for file in (*latest.schema.files[:-1], *imports_of(extended))}
        return self._registered(subject, ProtobufSchema((*files.values(), extended)), path, latest.text)

    def _registered(self, subject: str, schema: ProtobufSchema, path: tuple[int, ...], old: SchemaText) -> _WriteType:
        text, file = proto_text(schema.file, schema.files[:-1])
        references = [reference for reference in old.references if reference.name in old.direct]
        schema_id = self._registry().register(subject, text, references, is_new=True)
        # The text may put nested types in another order
        compiled = ProtobufSchema((*schema.files[:-1], file))
        path = compiled.path_of(schema.message_class(path).DESCRIPTOR.full_name)
        return _WriteType(message_frame(schema_id, path), compiled.message_class(path))


class FramedEncoder(Encoder):
    """Encode rows as messages with the frame of their schema, which is looked up when the first rows come.

    Args:
        format_name: The format's name, for errors.
        schema: The columns.
        options: How messages are written.
        write_type: Returns the type of the messages; called once.
    """

    def __init__(
        self,
        format_name: str,
        schema: pa.Schema,
        options: ProtobufRegistryOptions,
        write_type: Callable[[], _WriteType],
    ) -> None:
        self._name = format_name
        self._schema = schema
        self._options = options
        self._write_type = write_type
        self._frame = b""
        self._encoder: ProtobufEncoder | None = None

    def encode(self, rows: pa.RecordBatch, row_kinds: pa.StringArray | None = None) -> Payloads:
        """Encode a batch, one message a row.

        Raises:
            MessageError: A value cannot be written.
            SchemaError: The subject's schema has other types than the columns.
            RegistryError: The registry does not accept the schema, or could not be asked.
        """
        check_insertions(self._name, self._schema, rows, row_kinds)
        if not rows.num_rows:
            return Payloads([])
        if self._encoder is None:
            self._frame, message_class = self._write_type()
            self._encoder = ProtobufEncoder(self._schema, message_class, self._options)
        messages = self._encoder.encode(rows).to_array()
        none = pa.scalar(b"", pa.binary())
        return Payloads(pc.binary_join_element_wise(pa.scalar(self._frame, pa.binary()), messages, none))


def _given_schema(format_name: str, options: ProtobufRegistryOptions) -> ProtobufSchema:
    try:
        schema = parse_schema(SchemaText(options.schema or ""))
        schema.path_of(options.message_name)
    except ValueError as error:
        raise OptionsError(format_name, (f"option 'schema' is invalid: {error}",)) from None
    return schema
