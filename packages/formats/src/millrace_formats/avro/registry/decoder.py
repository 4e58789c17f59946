"""Decode messages with a registry's frame, each by the schema that its frame names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from millrace.errors import MalformedMessageError
from millrace_formats.avro.reader.batch_reader import PartialBatch, PyruhvroReader, merge_in_order
from millrace_formats.avro.reader.datum_reader import DatumReader
from millrace_formats.avro.reader.decoder import EXACT_ONLY, NOT_FAST, batch_reader
from millrace_formats.avro.reader.read_plan import ReadPlan, UnreadablePlan
from millrace_formats.avro.registry.decryption import AvroDecryption, DecryptingReader
from millrace_formats.avro.schema.model import AvroType
from millrace_formats.registry.frame import FRAME_SIZE, frame_size, has_guid, schema_id_of
from millrace_formats.registry.schema_registry import SchemaNotFoundError, SchemaRegistry
from millrace_formats.shared.fallback_decoder import FallbackDecoder, FastRows, PayloadList


class AvroFramedDecoder(FallbackDecoder):
    """Decode messages with a registry's frame.

    The messages of one schema take the paths of `AvroDecoder`. All messages of a batch are read as if they were of the
    first one's schema, which they usually are; those with another frame are then read schema by schema.

    Args:
        schema: The columns.
        registry: Returns the registry; called when the first message is read.
        plan: Plans how messages of a writer's schema become rows.
        skips_empty: Whether an empty message gives no row, as a null one.
    """

    def __init__(
        self,
        schema: pa.Schema,
        registry: Callable[[], SchemaRegistry[AvroType]],
        plan: Callable[[AvroType], ReadPlan],
        *,
        skips_empty: bool = False,
    ) -> None:
        readers = _ReadersByFrame(schema, registry, plan)
        super().__init__(schema, _FramedFastReader(schema, readers), _FramedExactReader(readers, skips_empty))

    def _exact_only(self) -> str:
        return f"{EXACT_ONLY}, those whose schema has {NOT_FAST}"


@dataclass(frozen=True)
class _SchemaReaders:
    """The readers of messages of one schema; ``fast`` is None where pyruhvro does not read them exactly."""

    fast: PyruhvroReader | None
    exact: DatumReader | DecryptingReader


class _ReadersByFrame:
    """Cache the readers of each schema, and why there are none for others."""

    def __init__(
        self, schema: pa.Schema, registry: Callable[[], SchemaRegistry[AvroType]], plan: Callable[[AvroType], ReadPlan]
    ) -> None:
        self._schema = schema
        self._registry = registry
        self._plan = plan
        self._readers: dict[bytes, _SchemaReaders] = {}
        self._problems: dict[bytes, str] = {}

    def forget_problems(self) -> None:
        """Ask the registry again for missing schemas, since one of several servers may lag behind."""
        self._problems.clear()

    def readers(self, frame: bytes) -> _SchemaReaders:
        """Return the readers of messages with a frame.

        Raises:
            MalformedMessageError: It is not a frame, or its schema is missing or cannot be read into the columns.
            RegistryError: The registry could not be asked, or what decrypts the messages is not known.
            MachineError: What decrypts the messages is not installed.
        """
        if frame not in self._readers:
            self._readers[frame] = self._make_readers(frame)
        return self._readers[frame]

    def _make_readers(self, frame: bytes) -> _SchemaReaders:
        if frame in self._problems:
            raise MalformedMessageError(self._problems[frame])
        schema_id = schema_id_of(frame)
        registry = self._registry()
        try:
            plan = self._plan(registry.schema(schema_id))
        except SchemaNotFoundError as error:
            self._problems[frame] = str(error)
            raise MalformedMessageError(str(error)) from None
        if isinstance(plan, UnreadablePlan):
            self._problems[frame] = f"schema {schema_id}: {plan.reason}"
            raise MalformedMessageError(self._problems[frame])
        if encrypted := registry.encrypted(schema_id):
            return _SchemaReaders(None, DecryptingReader(AvroDecryption(encrypted), DatumReader(plan)))
        # pyruhvro reads the frame with an id as part of the message, and messages with a GUID without their frame
        fast_frame = b"" if has_guid(frame) else frame
        return _SchemaReaders(batch_reader(plan, self._schema, fast_frame), DatumReader(plan))


class _FramedFastReader:
    """Read batches as if all messages were of one schema, then the messages of other schemas."""

    def __init__(self, schema: pa.Schema, readers: _ReadersByFrame) -> None:
        self._schema = schema
        self._readers = readers
        self._is_mixed = False

    def read(self, payloads: PayloadList) -> FastRows:
        """Read the messages that pyruhvro reads exactly."""
        self._readers.forget_problems()
        parts: list[PartialBatch] = []
        unread: Sequence[int] = range(len(payloads))
        frame = b"" if self._is_mixed else _first_frame(payloads)
        if frame and (part := self._read(frame, payloads)):
            parts.append(part)
            unread = _unread_indices(part, len(payloads))
        # Unread messages of the first schema were rejected; only the exact reader says why
        parts += self._read_by_schema(payloads, unread, exclude=frame)
        self._is_mixed = len(parts) > 1
        return merge_in_order(parts, self._schema, len(payloads))

    def _read_by_schema(self, payloads: PayloadList, indices: Sequence[int], exclude: bytes) -> Iterator[PartialBatch]:
        """Read the messages at some indices, schema by schema, except those with one frame."""
        groups: dict[bytes, list[int]] = {}
        for index in indices:
            payload = payloads[index]
            if payload:
                groups.setdefault(payload[: frame_size(payload)], []).append(index)
        groups.pop(exclude, None)
        for frame, group in groups.items():
            start = len(frame) if has_guid(frame) else 0
            if part := self._read(frame, [(payloads[index] or b"")[start:] for index in group]):
                yield PartialBatch(part.rows, np.array(group, np.int32)[part.message_index])

    def _read(self, frame: bytes, payloads: PayloadList) -> PartialBatch | None:
        try:
            reader = self._readers.readers(frame).fast
        except MalformedMessageError:
            return None
        return None if reader is None else reader.read(payloads)


def _unread_indices(part: PartialBatch, count: int) -> list[int]:
    """Return the indices of the messages that have no rows."""
    if len(part.message_index) == count:
        return []
    is_unread = np.ones(count, bool)
    is_unread[part.message_index] = False
    indices: list[int] = np.flatnonzero(is_unread).tolist()
    return indices


def _first_frame(payloads: PayloadList) -> bytes:
    """Return the frame of the first message that is neither null nor empty; empty if it has a GUID."""
    first = next((payload for payload in payloads if payload), b"")
    return b"" if has_guid(first) else first[:FRAME_SIZE]


class _FramedExactReader:
    def __init__(self, readers: _ReadersByFrame, skips_empty: bool) -> None:
        self._readers = readers
        self._skips_empty = skips_empty

    def read(self, payload: bytes | None) -> tuple[Any, ...] | None:
        """Read the values of a message's columns; None for a null payload."""
        if payload is None or (self._skips_empty and not payload):
            return None
        size = frame_size(payload)
        return self._readers.readers(payload[:size]).exact.read(payload, size)
