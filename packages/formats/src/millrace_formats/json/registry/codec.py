"""Make decoders and encoders of framed JSON."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from millrace.contracts import Decoded, Decoder, Encoder, Payloads
from millrace.errors import MalformedMessageError, OptionsError, RegistryError
from millrace_formats.json.decoder import EXACT_ONLY, JsonDecoder
from millrace_formats.json.encoder import JsonEncoder
from millrace_formats.json.options import JsonOptions
from millrace_formats.json.registry.columns import columns_of, numbers_in
from millrace_formats.json.registry.decryption import JsonDecryption
from millrace_formats.json.registry.derivation import derive_schema
from millrace_formats.json.registry.options import JsonRegistryOptions
from millrace_formats.json.registry.schemas import JsonSchema, json_registry, parse_schema, title_of
from millrace_formats.registry.frame import frame_of, schema_id_of, split_frame
from millrace_formats.registry.framed_decoder import DecryptingDecoder, FramedDecoder
from millrace_formats.registry.schema_registry import SchemaNotFoundError, SchemaRegistry, SchemaText
from millrace_formats.registry.subjects import SubjectName
from millrace_formats.shared.insert_only import check_insertions
from millrace_formats.shared.sql_types import check_schema, nested_problem

_HOW = f"many messages at once; one by one {EXACT_ONLY}, and malformed ones"


class JsonRegistryCodec:
    """Make decoders and encoders of framed JSON.

    Args:
        format_name: The format's name.
        options: Its options.

    Raises:
        OptionsError: The schema of the options is not valid.
    """

    def __init__(self, format_name: str, options: JsonRegistryOptions) -> None:
        self._name = format_name
        self._options = options
        self._given = None if options.schema is None else _given_schema(format_name, options.schema)

    def decoder(self, schema: pa.Schema) -> Decoder:
        """Return a decoder; SchemaError when a column's type is not supported."""
        check_schema(self._name, schema, nested_problem)
        decoders = _DecodersBySchema(schema, self._registry)
        return FramedDecoder(schema, split_frame, decoders.decoder, _HOW)

    def encoder(self, schema: pa.Schema, subject: SubjectName) -> Encoder:
        """Return an encoder; SchemaError when a column's type is not supported."""
        check_schema(self._name, schema, nested_problem)
        text = self._options.schema or derive_schema(schema)
        register = functools.partial(self._register, text, subject)
        return FramedJsonEncoder(self._name, schema, self._options.ignore_null_fields, register)

    def columns(self, subject: str) -> pa.Schema | None:
        """Return a column for each property of the latest schema of a subject, or of the given one."""
        if self._given is not None:
            return columns_of(self._given)
        try:
            latest = self._registry().latest(subject)
            return None if latest is None else columns_of(latest.schema)
        except (SchemaNotFoundError, ValueError) as error:
            raise RegistryError(f"the latest schema of subject {subject!r} has no columns: {error}") from None

    def _registry(self) -> SchemaRegistry[JsonSchema]:
        return json_registry(self._name, self._options)

    def _register(self, text: str, subject_name: SubjectName) -> int:
        subject = subject_name.of(title_of(parse_schema(SchemaText(text))))
        self._registry().check_clear(subject)
        return self._registry().register(subject, text, is_new=self._options.auto_register)


class _DecodersBySchema:
    """Make one decoder for all schemas, and one for each set of columns that Kafka Connect wrote as numbers."""

    def __init__(self, schema: pa.Schema, registry: Callable[[], SchemaRegistry[JsonSchema]]) -> None:
        self._schema = schema
        self._registry = registry
        self._decoders: dict[frozenset[str], Decoder] = {}

    def decoder(self, frame: bytes) -> Decoder:
        """Return the decoder of messages with a frame; MalformedMessageError when the registry has no such schema."""
        registry, schema_id = self._registry(), schema_id_of(frame)
        try:
            numbers = numbers_in(registry.schema(schema_id), self._schema)
        except SchemaNotFoundError as error:
            raise MalformedMessageError(str(error)) from None
        decoder = self._decoders.setdefault(frozenset(numbers), _decoder(self._schema, numbers))
        encrypted = registry.encrypted(schema_id)
        return DecryptingDecoder(frame, JsonDecryption(encrypted), decoder) if encrypted else decoder


def _decoder(schema: pa.Schema, numbers: Mapping[str, pa.DataType]) -> Decoder:
    options = JsonOptions(timestamp_format="ISO-8601")
    if not numbers:
        return JsonDecoder(schema, options)
    fields = [field.with_type(numbers.get(field.name, field.type)) for field in schema]
    return _NumbersDecoder(schema, JsonDecoder(pa.schema(fields), options))


class _NumbersDecoder(Decoder):
    """Decode times that are numbers, days or milliseconds since 1970 or midnight."""

    def __init__(self, schema: pa.Schema, decoder: Decoder) -> None:
        self._schema = schema
        self._decoder = decoder

    def decode(self, payloads: Payloads) -> Decoded:
        decoded = self._decoder.decode(payloads)
        columns = [
            _to_time(column, field.type) for column, field in zip(decoded.rows.columns, self._schema, strict=True)
        ]
        rows = pa.RecordBatch.from_arrays(columns, schema=self._schema)
        return Decoded(rows, decoded.message_index, errors=decoded.errors)


def _to_time(numbers: pa.Array, type_: pa.DataType) -> pa.Array:
    if numbers.type == type_:
        return numbers
    if pt.is_date32(type_):
        return numbers.cast(type_)
    micros = pc.multiply(numbers.cast(pa.int64()), 1000)
    return micros.cast(pa.time64("us")).cast(type_) if pt.is_time64(type_) else micros.cast(type_)


class FramedJsonEncoder(Encoder):
    """Encode rows as JSON objects with the frame of their schema, which is registered when the first rows come.

    Args:
        format_name: The format's name, for errors.
        schema: The columns.
        ignore_null_fields: Leave out fields that are NULL.
        register: Returns the schema's id; called once.
    """

    def __init__(
        self, format_name: str, schema: pa.Schema, ignore_null_fields: bool, register: Callable[[], int]
    ) -> None:
        self._name = format_name
        self._schema = schema
        options = JsonOptions(
            timestamp_format="ISO-8601", decimal_as_plain_number=True, ignore_null_fields=ignore_null_fields
        )
        self._encoder = JsonEncoder(schema, options)
        self._register = register
        self._frame = b""

    def encode(self, rows: pa.RecordBatch, row_kinds: pa.StringArray | None = None) -> Payloads:
        """Encode a batch, one object a row.

        Raises:
            MessageError: A value cannot be written.
            RegistryError: The registry does not accept the schema, or could not be asked.
        """
        check_insertions(self._name, self._schema, rows, row_kinds)
        if not rows.num_rows:
            return Payloads([])
        self._frame = frame = self._frame or frame_of(self._register())
        # The frame may hold a line break, which the encoder's own prefix must not
        return Payloads([frame + line for line in self._encoder.framed(rows, b"", b"")[0]])


def _given_schema(format_name: str, text: str) -> JsonSchema:
    try:
        return parse_schema(SchemaText(text))
    except ValueError as error:
        raise OptionsError(format_name, (f"option 'schema' is invalid: {error}",)) from None
