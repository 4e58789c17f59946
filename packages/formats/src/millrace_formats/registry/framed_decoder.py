"""Decode messages with a registry's frame, those of each frame by a decoder of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from millrace.contracts import Decoded, Decoder, MalformedMessage, Payloads
from millrace.errors import MalformedMessageError
from millrace_formats.shared.fallback_decoder import empty_batch

Split = Callable[[bytes], tuple[bytes, bytes]]
"""Splits a message into its frame and the rest; MalformedMessageError when it has no frame."""


class _FrameRows(NamedTuple):
    """The rows of the messages of one frame, and for each the index of its message in the batch."""

    rows: pa.RecordBatch
    message_index: np.ndarray


class FramedDecoder(Decoder):
    """Decode messages with a registry's frame.

    Args:
        schema: The columns.
        split: Splits a message.
        decoder_for: Returns the decoder of the messages of a frame; called once for each. Frames whose messages may be
            decoded together may share one. MalformedMessageError when such messages cannot be read.
        how: How messages of one frame are read, for people.
    """

    def __init__(self, schema: pa.Schema, split: Split, decoder_for: Callable[[bytes], Decoder], how: str) -> None:
        self._schema = schema
        self._split = split
        self._decoder_for = decoder_for
        self._how = how
        self._decoders: dict[bytes, Decoder] = {}
        self._problems: dict[bytes, str] = {}

    def explain(self) -> str:
        """Name the path that messages take."""
        return self._how

    def decode(self, payloads: Payloads) -> Decoded:
        """Decode a batch, decoder by decoder; a null message gives no row."""
        # One of several servers may lag behind: a schema that was missing is asked for again
        self._problems.clear()
        errors: list[MalformedMessage] = []
        groups = self._group(payloads.to_list(), errors)
        parts = [_decode(decoder, indices, bodies, errors) for decoder, indices, bodies in groups]
        rows, index = _merge(parts, self._schema)
        errors.sort(key=lambda error: error.index)
        return Decoded(rows, None if len(index) == len(payloads) else pa.array(index), errors=tuple(errors))

    def _group(
        self, items: Sequence[bytes | None], errors: list[MalformedMessage]
    ) -> list[tuple[Decoder, list[int], list[bytes]]]:
        """Group messages by their decoders."""
        groups: dict[int, tuple[Decoder, list[int], list[bytes]]] = {}
        by_frame: dict[bytes, tuple[Decoder, list[int], list[bytes]]] = {}
        split = self._split
        for index, item in enumerate(items):
            if item is None:
                continue
            try:
                frame, body = split(item)
                if (group := by_frame.get(frame)) is None:
                    decoder = self._decoder(frame)
                    group = by_frame[frame] = groups.setdefault(id(decoder), (decoder, [], []))
            except MalformedMessageError as error:
                errors.append(MalformedMessage(index, str(error)))
                continue
            group[1].append(index)
            group[2].append(body)
        return list(groups.values())

    def _decoder(self, frame: bytes) -> Decoder:
        if frame in self._problems:
            raise MalformedMessageError(self._problems[frame])
        if frame not in self._decoders:
            try:
                self._decoders[frame] = self._decoder_for(frame)
            except MalformedMessageError as error:
                self._problems[frame] = str(error)
                raise
        return self._decoders[frame]


class DecryptingDecoder(Decoder):
    """Decrypt the messages of one frame before they are decoded.

    Args:
        frame: The frame.
        decrypt: Decrypts a message with its frame.
        decoder: Decodes messages without their frame.
    """

    def __init__(self, frame: bytes, decrypt: Callable[[bytes], bytes], decoder: Decoder) -> None:
        self._frame = frame
        self._decrypt = decrypt
        self._decoder = decoder

    def decode(self, payloads: Payloads) -> Decoded:
        """Decode a batch of messages without their frame; errors as of `Decryption`."""
        errors: list[MalformedMessage] = []
        indices: list[int] = []
        bodies: list[bytes] = []
        for index, body in enumerate(payloads.to_list()):
            try:
                bodies.append(self._decrypt(self._frame + (body or b"")))
                indices.append(index)
            except MalformedMessageError as error:
                errors.append(MalformedMessage(index, str(error)))
        rows, message_index = _decode(self._decoder, indices, bodies, errors)
        errors.sort(key=lambda error: error.index)
        return Decoded(rows, pa.array(message_index), errors=tuple(errors))


def _decode(decoder: Decoder, indices: list[int], bodies: list[bytes], errors: list[MalformedMessage]) -> _FrameRows:
    decoded = decoder.decode(Payloads(bodies))
    errors += [MalformedMessage(indices[error.index], error.reason) for error in decoded.errors]
    index = np.array(indices, np.int32)
    return _FrameRows(decoded.rows, index if decoded.message_index is None else index[decoded.message_index.to_numpy()])


def _merge(parts: list[_FrameRows], schema: pa.Schema) -> tuple[pa.RecordBatch, np.ndarray]:
    if not parts:
        return empty_batch(schema), np.empty(0, np.int32)
    if len(parts) == 1:
        return parts[0]
    index = np.concatenate([part.message_index for part in parts])
    order = np.argsort(index, kind="stable")
    columns = [
        pa.concat_arrays(column).take(pa.array(order))
        for column in zip(*(part.rows.columns for part in parts), strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema), index[order]
