"""The decoder of messages that a registry's frame stands before: each of the schema that it says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from millrace.errors import MalformedMessageError
from millrace_formats.avro.combine import combine
from millrace_formats.avro.decoder import NOT_FAST, REFUSED, BinaryExactReader, fast_reader
from millrace_formats.avro.fast_reader import FastReader, Found
from millrace_formats.avro.frame import SIZE, schema_id_of
from millrace_formats.avro.model import AvroType
from millrace_formats.avro.plan import Plan, Unreadable
from millrace_formats.avro.registry import NoSchemaError, Registry
from millrace_formats.shared.fallback_decoder import FallbackDecoder, FastRows, PayloadList


class FramedDecoder(FallbackDecoder):
    """Reads messages with a registry's frame into rows.

    The messages of one schema take the paths of `AvroDecoder`. Usually all messages of a batch are of one schema, which
    shows while they are read; others are read schema by schema.

    Args:
        schema: The columns.
        registry: Gives the registry, when the first message is read.
        plan: Makes the plan for messages of a writer's schema.
        skips_empty: Whether an empty message gives no row, as a null one.
    """

    def __init__(
        self,
        schema: pa.Schema,
        registry: Callable[[], Registry],
        plan: Callable[[AvroType], Plan],
        *,
        skips_empty: bool = False,
    ) -> None:
        schemas = _Schemas(schema, registry, plan)
        super().__init__(schema, _FramedReader(schema, schemas), _FramedExactReader(schemas, skips_empty))

    def _exact_only(self) -> str:
        return f"{REFUSED}, those whose schema has {NOT_FAST}"


@dataclass(frozen=True)
class _Readers:
    """How messages of one schema are read.

    Attributes:
        fast: Many at once; None where they cannot be.
        exact: One by one.
    """

    fast: FastReader | None
    exact: BinaryExactReader


class _Schemas:
    """The readers of the schemas that were met so far."""

    def __init__(self, schema: pa.Schema, registry: Callable[[], Registry], plan: Callable[[AvroType], Plan]) -> None:
        self._schema = schema
        self._registry = registry
        self._plan = plan
        self._readers: dict[bytes, _Readers] = {}
        self._missing: dict[bytes, str] = {}

    def forget_missing(self) -> None:
        """Ask the registry again for schemas that it did not have: another one may have told it by now."""
        self._missing.clear()

    def readers(self, frame: bytes) -> _Readers:
        """The readers for messages with a frame.

        Raises:
            MalformedMessageError: It is none, or its schema cannot be read by.
            RegistryError: The registry could not be asked.
        """
        if frame not in self._readers:
            self._readers[frame] = self._made(frame)
        return self._readers[frame]

    def _made(self, frame: bytes) -> _Readers:
        if frame in self._missing:
            raise MalformedMessageError(self._missing[frame])
        schema_id = schema_id_of(frame)
        try:
            plan = self._plan(self._registry().schema(schema_id))
        except NoSchemaError as error:
            self._missing[frame] = str(error)
            raise MalformedMessageError(str(error)) from None
        if isinstance(plan, Unreadable):
            self._missing[frame] = f"schema {schema_id}: {plan.reason}"
            raise MalformedMessageError(self._missing[frame])
        return _Readers(fast_reader(plan, self._schema, frame), BinaryExactReader(plan))


class _FramedReader:
    """Reads batches as if all messages were of one schema, and then those that are of others."""

    def __init__(self, schema: pa.Schema, schemas: _Schemas) -> None:
        self._schema = schema
        self._schemas = schemas
        self._is_mixed = False

    def read(self, items: PayloadList) -> FastRows:
        """Read what the fast readers take."""
        self._schemas.forget_missing()
        found: list[Found] = []
        left: Sequence[int] = range(len(items))
        frame = b"" if self._is_mixed else _frame(items)
        if frame and (whole := self._read(frame, items)):
            found.append(whole)
            left = _without(whole, len(items))
        # What is left of the first one's schema was rejected, which only the exact reader explains
        found += self._by_schema(items, left, frame)
        self._is_mixed = len(found) > 1
        return combine(found, self._schema, len(items))

    def _by_schema(self, items: PayloadList, places: Sequence[int], but: bytes) -> Iterator[Found]:
        """What is read of the messages at some places, schema by schema, of all schemas but one."""
        groups: dict[bytes, list[int]] = {}
        for place in places:
            item = items[place]
            if item:
                groups.setdefault(item[:SIZE], []).append(place)
        groups.pop(but, None)
        for frame, of_schema in groups.items():
            if some := self._read(frame, [items[place] for place in of_schema]):
                yield Found(some.rows, np.array(of_schema, np.int32)[some.positions])

    def _read(self, frame: bytes, items: PayloadList) -> Found | None:
        try:
            reader = self._schemas.readers(frame).fast
        except MalformedMessageError:
            return None
        return None if reader is None else reader.read(items)


def _without(found: Found, count: int) -> list[int]:
    """The positions of the messages that have no rows."""
    if len(found.positions) == count:
        return []
    left = np.ones(count, bool)
    left[found.positions] = False
    places: list[int] = np.flatnonzero(left).tolist()
    return places


def _frame(items: PayloadList) -> bytes:
    """The frame of the first message that is not empty."""
    return next((item for item in items if item), b"")[:SIZE]


class _FramedExactReader:
    def __init__(self, schemas: _Schemas, skips_empty: bool) -> None:
        self._schemas = schemas
        self._skips_empty = skips_empty

    def read(self, payload: bytes | None) -> tuple[Any, ...] | None:
        """The values of a message's columns; None for a null payload."""
        if payload is None or (self._skips_empty and not payload):
            return None
        return self._schemas.readers(payload[:SIZE]).exact.read(payload, SIZE)
