"""Changes by msgspec: a class made for the schema reads each message, columns are built of all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from millrace_formats.changelog.dialect import Dialect
from millrace_formats.changelog.message_types import message_type, metadata_column
from millrace_formats.changelog.metadata import MetadataKey
from millrace_formats.changelog.row_changes import UPDATE_BEFORE, Changes
from millrace_formats.changelog.row_types import value_column
from millrace_formats.json.columns import Build
from millrace_formats.json.decode_each import decode_each
from millrace_formats.json.msgspec_types import attribute, list_getter
from millrace_formats.shared.column_casts import Reject
from millrace_formats.shared.fallback_decoder import PayloadList


class Read(NamedTuple):
    """What could be read of a batch.

    Attributes:
        rows: The columns, the metadata, and the kinds as numbers.
        messages: For each row the index of its message, int32, never decreasing.
        wrong: The positions of rows that mean nothing, ascending.
        left: The indexes of the messages that the exact reader has to read, ascending.
    """

    rows: pa.RecordBatch
    messages: np.ndarray
    wrong: np.ndarray
    left: list[int]


class FastChangeReader:
    """Reads the messages of a batch that msgspec and the column-wise parsers take exactly as the exact reader would.

    Args:
        schema: The columns, the metadata, and the kinds.
        shape: The class to read messages into.
        dialect: How messages are laid out, and which are read.
        columns: What makes the columns of the rows.
        told: What makes the columns of the metadata, and whether that stands beside the payload.
    """

    def __init__(
        self,
        schema: pa.Schema,
        shape: type[msgspec.Struct],
        dialect: Dialect,
        columns: Sequence[Build],
        told: Sequence[tuple[Build, bool]],
    ) -> None:
        self._schema = schema
        self._decode: Callable[[Any], Any] = msgspec.json.Decoder(shape).decode
        self._dialect = dialect
        self._columns = [(list_getter(f"row.{attribute(index)}"), build) for index, build in enumerate(columns)]
        self._told = told

    @classmethod
    def of(
        cls, schema: pa.Schema, fields: list[pa.Field], keys: Sequence[MetadataKey], dialect: Dialect, iso: bool
    ) -> FastChangeReader | None:
        """A reader for the columns ``fields`` and metadata ``keys``, or None when msgspec cannot read them."""
        shape = message_type(dialect.layout, fields, keys, dialect.has_payload)
        if shape is None:
            return None
        columns = [value_column(field, iso) for field in fields]
        told = [(metadata_column(key, keys), key.is_of_root) for key in keys]
        return cls(schema, shape, dialect, columns, told)

    def read(self, items: PayloadList) -> Read:
        """Read what can be read; null and empty messages give no rows."""
        places, left = self._chosen(items)
        chosen = items if len(places) == len(items) else [items[place] for place in places.tolist()]
        roots, refused = decode_each(self._decode, chosen)
        if refused:
            left |= set(places[list(refused)].tolist())
            places = np.delete(places, list(refused))
        messages = [root.payload for root in roots] if self._dialect.has_payload else roots
        changes = self._dialect.layout.collect(messages)
        owners = np.repeat(np.arange(len(messages), dtype=np.int32), np.asarray(changes.counts))
        unfit = np.zeros(len(messages), bool)
        unfit[changes.left] = True
        arrays = [
            *self._row_columns(changes, lambda rows: _mark(unfit, owners[rows])),
            *self._metadata(roots, messages, owners, lambda found: _mark(unfit, found)),
            pa.array(np.frombuffer(changes.kinds, np.int8)),
        ]
        left |= set(places[unfit].tolist())
        rows = pa.RecordBatch.from_arrays(arrays, schema=self._schema)
        return Read(rows, places[owners], np.flatnonzero(unfit[owners]), sorted(left))

    def _chosen(self, items: PayloadList) -> tuple[np.ndarray, set[int]]:
        """The indexes of the messages to read, int32, and of those that only the exact reader can tell about."""
        if all(items):
            present = np.arange(len(items), dtype=np.int32)
        else:
            present = np.flatnonzero(np.fromiter(map(bool, items), bool, len(items))).astype(np.int32)
        names = self._dialect.names
        if names is None:
            return present, set()
        kept, unknown = names.choose([items[place] for place in present.tolist()])
        return present[np.array(kept, np.intp)], set(present[np.array(list(unknown), np.intp)].tolist())

    def _row_columns(self, changes: Changes, reject: Reject) -> list[pa.Array]:
        rows = changes.rows
        before: list[int] = []
        if self._dialect.layout.is_partial:
            before = np.flatnonzero(np.frombuffer(changes.kinds, np.int8) == UPDATE_BEFORE).tolist()
        columns = []
        for get, build in self._columns:
            values = get(rows)
            for place in before:
                if values[place] is msgspec.UNSET:
                    values[place] = values[place + 1]
            columns.append(build(values, reject))
        return columns

    def _metadata(self, roots: list[Any], messages: list[Any], owners: np.ndarray, reject: Reject) -> list[pa.Array]:
        made = [build(roots if is_of_root else messages, reject) for build, is_of_root in self._told]
        if len(owners) == len(messages) and (owners == np.arange(len(messages))).all():
            return made
        return [column.take(pa.array(owners)) for column in made]


def _mark(marks: np.ndarray, places: np.ndarray) -> None:
    marks[places] = True
