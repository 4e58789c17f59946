"""Decode payloads by a format, and check that the format keeps its contract."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from millrace.contracts import Decoded, Decoder, Payloads
from millrace.errors import PluginError


def decode(
    decoder: Decoder,
    payloads: Sequence[bytes | None],
    schema: pa.Schema,
    format_name: str,
    metadata_keys: Sequence[str] | None = None,
) -> Decoded:
    """Decode payloads, malformed ones among them.

    Args:
        decoder: Decodes them.
        payloads: The values, or the keys, of some messages.
        schema: The columns that the decoder was made for.
        format_name: The format's name.
        metadata_keys: The metadata that the decoder was made for; None for a format that is no ChangelogFormat.

    Raises:
        PluginError: The format does not keep its contract.
    """
    return check_decoded(decoder.decode(Payloads(payloads)), schema, len(payloads), format_name, metadata_keys)


def check_decoded(
    decoded: Decoded, schema: pa.Schema, message_count: int, format_name: str, metadata_keys: Sequence[str] | None
) -> Decoded:
    """Return what a format decoded, if it keeps its contract, with exactly the columns that it was asked for.

    Spark checks only the first batch of a task, and reads the buffers of others as if they were of the same types.

    Args:
        decoded: The format's answer.
        schema: The columns that it was asked for.
        message_count: How many messages it was given.
        format_name: The format's name.
        metadata_keys: The metadata that it was asked for; None for a format that is no ChangelogFormat.

    Raises:
        PluginError: Rows are of unknown or of malformed messages, have other columns, or lack metadata or row kinds.
    """
    count = decoded.rows.num_rows
    if decoded.message_index is None and count != message_count:
        raise PluginError(f"format {format_name!r} gave {count} rows for {message_count} messages")
    if decoded.errors:
        _check_errors(decoded, message_count, format_name)
    _check_changelog(decoded, format_name, metadata_keys)
    if decoded.rows.schema == schema:
        return decoded
    try:
        return dataclasses.replace(decoded, rows=decoded.rows.cast(schema))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
        raise PluginError(f"format {format_name!r} gave other columns than it was asked for: {error}") from error


def in_time_zone(schema: pa.Schema, zone: str) -> pa.Schema:
    """Return a schema with its instants in a zone, nested ones too: formats read text without a zone in that zone."""
    return pa.schema([field.with_type(_type_in_zone(field.type, zone)) for field in schema])


def _check_errors(decoded: Decoded, message_count: int, format_name: str) -> None:
    malformed = np.array([error.index for error in decoded.errors])
    if not ((malformed >= 0) & (malformed < message_count)).all():
        raise PluginError(f"format {format_name!r} reported errors of messages that it was not given")
    if decoded.message_index is None or np.isin(malformed, decoded.message_index.to_numpy()).any():
        raise PluginError(f"format {format_name!r} gave rows for messages that it calls malformed")


def _check_changelog(decoded: Decoded, format_name: str, metadata_keys: Sequence[str] | None) -> None:
    kinds, count = decoded.row_kinds, decoded.rows.num_rows
    if kinds is not None and metadata_keys is None:
        raise PluginError(f"format {format_name!r} returned row kinds but is not a ChangelogFormat")
    if kinds is not None and (kinds.type, len(kinds)) != (pa.string(), count):
        raise PluginError(f"format {format_name!r} gave {len(kinds)} row kinds ({kinds.type}) for {count} rows")
    if metadata_keys:
        metadata = decoded.metadata
        if metadata is None or (metadata.num_columns, metadata.num_rows) != (len(metadata_keys), count):
            raise PluginError(
                f"format {format_name!r} did not give {', '.join(metadata_keys)} for each of {count} rows"
            )


def _type_in_zone(type_: pa.DataType, zone: str) -> pa.DataType:
    if pt.is_timestamp(type_) and type_.tz is not None:
        return pa.timestamp(type_.unit, zone)
    if pt.is_struct(type_):
        return pa.struct([field.with_type(_type_in_zone(field.type, zone)) for field in type_.fields])
    if pt.is_map(type_):
        items = type_.item_field
        return pa.map_(_type_in_zone(type_.key_type, zone), items.with_type(_type_in_zone(items.type, zone)))
    if pt.is_list(type_):
        values = type_.value_field
        return pa.list_(values.with_type(_type_in_zone(values.type, zone)))
    return type_
