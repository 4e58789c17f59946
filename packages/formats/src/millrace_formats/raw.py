"""The raw format: the payload is the value of one column, as in Flink's ``RawFormatDeserializationSchema``."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa

from millrace.contracts import Decoded, Decoder, Encoder, Format, MalformedMessage, Payloads
from millrace.errors import SchemaError
from millrace.options import option
from millrace_formats.shared.fallback_decoder import AT_ONCE, ONE_BY_ONE
from millrace_formats.shared.insert_only import check_insertions
from millrace_formats.shared.sql_types import sql_name

_NUMBERS = {
    pa.int8(): "i1",
    pa.int16(): "i2",
    pa.int32(): "i4",
    pa.int64(): "i8",
    pa.float32(): "f4",
    pa.float64(): "f8",
}


@dataclass(frozen=True)
class RawOptions:
    """The options of raw."""

    charset: str = option("charset", default="UTF-8", doc="The character set of a STRING column.")
    endianness: Literal["big-endian", "little-endian"] = option(
        "endianness", default="big-endian", doc="The order of the bytes of a number."
    )

    def __post_init__(self) -> None:
        try:
            # Codecs of host names (idna, punycode) have no replacement for undecodable bytes
            b"\xff".decode(self.charset, "replace").encode(self.charset, "replace")
        except (LookupError, UnicodeError):
            raise ValueError(
                f"charset {self.charset!r} is not known: give one such as UTF-8, ISO-8859-1 or GBK"
            ) from None


class RawFormat(Format):
    """Read and write the payload as one column: STRING, BINARY, BOOLEAN (one byte), or a number in binary form.

    NULL is a null payload; an empty payload is an empty STRING or BINARY. In text, bytes that
    the charset does not have are read as U+FFFD, and characters that it does not have are written as ``?``.
    """

    Options = RawOptions
    options: RawOptions

    def default_schema(self) -> pa.Schema:
        """One column ``value``, BINARY."""
        return pa.schema([pa.field("value", pa.binary())])

    def decoder(self, schema: pa.Schema) -> Decoder:
        """Make a decoder to one column; SchemaError when there are more, or its type is not supported."""
        return _RawDecoder(schema, _codec(schema, self.options))

    def encoder(self, schema: pa.Schema) -> Encoder:
        """Make an encoder of one column; SchemaError when there are more, or its type is not supported."""
        return _RawEncoder(schema, _codec(schema, self.options))


class _Values(NamedTuple):
    """A column, and the reasons of payloads that are malformed, by index."""

    column: pa.Array
    errors: dict[int, str]


class _Codec(NamedTuple):
    read: Callable[[Payloads], _Values]
    write: Callable[[pa.Array], Payloads]
    is_at_once: bool = True


def _codec(schema: pa.Schema, options: RawOptions) -> _Codec:
    if len(schema) != 1:
        names = ", ".join(schema.names) or "none"
        raise SchemaError(f"format raw needs exactly one column, not {len(schema)} ({names})")
    type_ = schema.field(0).type
    if type_ == pa.binary():
        return _Codec(lambda payloads: _Values(payloads.to_array(), {}), Payloads)
    if type_ == pa.string():
        return _text_codec(options.charset)
    if type_ == pa.bool_():
        return _Codec(_read_booleans, _write_booleans)
    if type_ in _NUMBERS:
        order = ">" if options.endianness == "big-endian" else "<"
        return _number_codec(type_, np.dtype(order + _NUMBERS[type_]))
    raise SchemaError(
        f"format raw does not support column {schema.names[0]} of type {sql_name(type_)}: it supports STRING, BINARY, "
        "BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT or DOUBLE"
    )


class _RawDecoder(Decoder):
    def __init__(self, schema: pa.Schema, codec: _Codec) -> None:
        self._schema = schema
        self._codec = codec

    def explain(self) -> str:
        return AT_ONCE if self._codec.is_at_once else f"{ONE_BY_ONE}: their charset is not UTF-8"

    def decode(self, payloads: Payloads) -> Decoded:
        column, errors = self._codec.read(payloads)
        if not self._schema.field(0).nullable and column.null_count > len(errors):
            nulls = np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False)).tolist()
            reason = f"field {self._schema.names[0]}: NULL in a NOT NULL column"
            errors = {index: errors.get(index, reason) for index in nulls}
        if not errors:
            return Decoded(pa.RecordBatch.from_arrays([column], schema=self._schema))
        is_valid = np.ones(len(column), bool)
        is_valid[list(errors)] = False
        return Decoded(
            pa.RecordBatch.from_arrays([column.filter(pa.array(is_valid))], schema=self._schema),
            pa.array(np.flatnonzero(is_valid).astype(np.int32)),
            errors=tuple(MalformedMessage(index, errors[index]) for index in sorted(errors)),
        )


class _RawEncoder(Encoder):
    def __init__(self, schema: pa.Schema, codec: _Codec) -> None:
        self._schema = schema
        self._codec = codec

    def encode(self, rows: pa.RecordBatch, row_kinds: pa.StringArray | None = None) -> Payloads:
        check_insertions("raw", self._schema, rows, row_kinds)
        return self._codec.write(rows.column(0))


def _text_codec(charset: str) -> _Codec:
    name = codecs.lookup(charset).name
    if name == "utf-8":
        return _Codec(_read_utf8, lambda column: Payloads(column.cast(pa.binary())))
    decode, encode = _big_endian(name)

    def read(payloads: Payloads) -> _Values:
        texts = [None if item is None else decode(item) for item in payloads.to_list()]
        return _Values(pa.array(texts, pa.string()), {})

    def write(column: pa.Array) -> Payloads:
        return Payloads([None if text is None else encode(text) for text in column.to_pylist()])

    return _Codec(read, write, is_at_once=False)


def _big_endian(name: str) -> tuple[Callable[[bytes], str], Callable[[str], bytes]]:
    """Return the functions of a charset; without a byte order mark UTF-16 and UTF-32 are big-endian, as in Java."""
    marks = {"utf-16": (b"\xfe\xff", b"\xff\xfe"), "utf-32": (b"\0\0\xfe\xff", b"\xff\xfe\0\0")}.get(name)
    if marks is None:
        return lambda data: _replace_surrogates(data.decode(name, "replace")), lambda text: text.encode(name, "replace")
    written = marks[0] if name == "utf-16" else b""
    return (
        lambda data: _replace_surrogates(data.decode(name if data.startswith(marks) else f"{name}-be", "replace")),
        lambda text: written + text.encode(f"{name}-be", "replace"),
    )


def _replace_surrogates(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _read_utf8(payloads: Payloads) -> _Values:
    try:
        return _Values(payloads.to_array().cast(pa.string()), {})
    except pa.ArrowInvalid:
        texts = [None if item is None else item.decode("utf-8", "replace") for item in payloads.to_list()]
        return _Values(pa.array(texts, pa.string()), {})


def _read_booleans(payloads: Payloads) -> _Values:
    values, errors = _read_fixed(payloads.to_list(), np.dtype("u1"), "BOOLEAN")
    return _Values(values.cast(pa.bool_()), errors)


def _write_booleans(column: pa.Array) -> Payloads:
    return Payloads([None if value is None else b"\1" if value else b"\0" for value in column.to_pylist()])


def _number_codec(type_: pa.DataType, dtype: np.dtype) -> _Codec:
    def read(payloads: Payloads) -> _Values:
        return _read_fixed(payloads.to_list(), dtype, sql_name(type_))

    def write(column: pa.Array) -> Payloads:
        numbers = np.asarray(column.fill_null(0).to_numpy(zero_copy_only=False)).astype(dtype)
        data, width = numbers.tobytes(), dtype.itemsize
        items: list[bytes | None] = [data[at : at + width] for at in range(0, len(data), width)]
        if column.null_count:
            for index in np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False)).tolist():
                items[index] = None
        return Payloads(items)

    return _Codec(read, write)


def _read_fixed(items: Sequence[bytes | None], dtype: np.dtype, name: str) -> _Values:
    width = dtype.itemsize
    is_valid = [item is not None and len(item) == width for item in items]
    if all(is_valid):
        numbers = np.frombuffer(b"".join(items), dtype)  # type: ignore[arg-type] # none is null here
        return _Values(pa.array(numbers.astype(dtype.newbyteorder("="))), {})
    filled = [item if ok else bytes(width) for item, ok in zip(items, is_valid, strict=True)]
    numbers = np.frombuffer(b"".join(filled), dtype)  # type: ignore[arg-type] # none is null here
    errors = {
        index: f"{len(item)} bytes, a {name} has {width}"
        for index, (item, ok) in enumerate(zip(items, is_valid, strict=True))
        if not ok and item is not None
    }
    return _Values(pa.array(numbers.astype(dtype.newbyteorder("=")), mask=~np.array(is_valid)), errors)
