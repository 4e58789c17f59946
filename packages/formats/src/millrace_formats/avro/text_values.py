"""Texts and bytes of Avro as columns have them."""

from __future__ import annotations

import uuid

import pyarrow as pa
import pyarrow.compute as pc

from millrace.errors import MalformedMessageError
from millrace_formats.avro.conversion import Conversion, Reject, reject_where
from millrace_formats.avro.model import Enum, Scalar
from millrace_formats.shared.column_casts import cast_or_reject


def text_conversion() -> Conversion:
    """From bytes that must be UTF-8 to STRING."""

    def one(value: bytes) -> str:
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise MalformedMessageError(
                f"not UTF-8: byte {value[error.start]:#04x} at position {error.start}"
            ) from None

    def column(values: pa.BinaryArray, reject: Reject) -> pa.StringArray:
        return cast_or_reject(values, pa.string(), reject)

    return Conversion(one, column)


def symbol_conversion(known: frozenset[str], default: str | None) -> Conversion:
    """From a symbol of the writer's to STRING.

    Args:
        known: The symbols that the reader's schema has; empty when there is none, so that all pass.
        default: What the reader's schema has for others.
    """

    def one(value: str) -> str:
        if not known or value in known:
            return value
        if default is None:
            raise MalformedMessageError(
                f"{value!r} is no symbol of the schema of option 'schema', which has no default"
            )
        return default

    def column(values: pa.StringArray, reject: Reject) -> pa.StringArray:
        if not known:
            return values
        unknown = pc.and_(pc.invert(pc.is_in(values, pa.array(sorted(known)))), values.is_valid())
        return reject_where(unknown, values, reject)

    return Conversion(one, column)


def text_of(type_: Scalar | Enum) -> Conversion | None:
    """The text of whole numbers, booleans, texts and symbols; None for others."""
    if isinstance(type_, Enum):
        return symbol_conversion(frozenset(), None)
    if type_.kind == "string":
        return text_conversion()
    if type_.kind == "boolean":
        return Conversion(lambda value: "true" if value else "false", lambda values, _: values.cast(pa.string()))
    return Conversion(str, lambda values, _: values.cast(pa.string())) if type_.kind in ("int", "long") else None


def bytes_conversion() -> Conversion:
    """From bytes to BINARY."""
    return Conversion(lambda value: value, lambda values, _: values)


def uuid_conversion() -> Conversion:
    """From the 16 bytes of a UUID to its text."""

    def one(value: bytes) -> str:
        return str(uuid.UUID(bytes=value))

    def column(values: pa.BinaryArray, _: Reject) -> pa.StringArray:
        raw = values.to_numpy(zero_copy_only=False).tolist()
        return pa.array([None if value is None else one(value) for value in raw], pa.string())

    return Conversion(one, column)
