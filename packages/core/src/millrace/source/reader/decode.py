"""Decoding: from messages to rows of the query's schema."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from millrace.contracts import Decoded, Decoder, Payloads
from millrace.errors import PluginError


def decode(
    decoder: Decoder, payloads: list[bytes | None], schema: pa.Schema, name: str, told: Sequence[str] | None = None
) -> Decoded:
    """What payloads decode to, malformed ones among them.

    Args:
        decoder: Decodes them.
        payloads: The values, or the keys, of some messages.
        schema: The columns that the decoder was made for.
        name: The format's name.
        told: The metadata that the decoder was made for; None for a format that knows rows and no changes.

    Raises:
        PluginError: The format does not keep its contract.
    """
    return checked(decoder.decode(Payloads(payloads)), schema, len(payloads), name, told)


def checked(decoded: Decoded, schema: pa.Schema, message_count: int, name: str, told: Sequence[str] | None) -> Decoded:
    """What a format decoded, if it keeps its contract, with exactly the columns that it was asked for.

    Spark checks the first batch of a task alone, and takes the buffers of others for what they should be.

    Args:
        decoded: What the format gave.
        schema: The columns that it was asked for.
        message_count: How many messages it was given.
        name: The format's name.
        told: The metadata that it was asked for; None for a format that knows rows and no changes.

    Raises:
        PluginError: Rows are of unknown or of malformed messages, have other columns, or lack metadata or row kinds.
    """
    count = decoded.rows.num_rows
    if decoded.message_index is None and count != message_count:
        raise PluginError(f"format {name!r} gave {count} rows for {message_count} messages")
    if decoded.errors:
        _check_errors(decoded, message_count, name)
    _check_changes(decoded, name, told)
    if decoded.rows.schema == schema:
        return decoded
    try:
        return dataclasses.replace(decoded, rows=decoded.rows.cast(schema))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
        raise PluginError(f"format {name!r} gave other columns than it was asked for: {error}") from error


def _check_errors(decoded: Decoded, message_count: int, name: str) -> None:
    bad = np.array([error.index for error in decoded.errors])
    if not ((bad >= 0) & (bad < message_count)).all():
        raise PluginError(f"format {name!r} told errors of messages that it was not given")
    if decoded.message_index is None or np.isin(bad, decoded.message_index.to_numpy()).any():
        raise PluginError(f"format {name!r} gave rows for messages that it calls malformed")


def _check_changes(decoded: Decoded, name: str, told: Sequence[str] | None) -> None:
    kinds, count = decoded.row_kinds, decoded.rows.num_rows
    if kinds is not None and told is None:
        raise PluginError(f"format {name!r} gave row kinds, but is no ChangelogFormat")
    if kinds is not None and (kinds.type, len(kinds)) != (pa.string(), count):
        raise PluginError(f"format {name!r} gave {len(kinds)} row kinds ({kinds.type}) for {count} rows")
    if told:
        given = decoded.metadata
        if given is None or (given.num_columns, given.num_rows) != (len(told), count):
            raise PluginError(f"format {name!r} did not give {', '.join(told)} for each of {count} rows")
