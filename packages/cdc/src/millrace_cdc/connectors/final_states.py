"""The last state of each key in a micro-batch, on the executors, in the order of `change_order`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import pyarrow as pa

from millrace.contracts import CHANGE_BATCH_COLUMNS
from millrace.errors import TableFailedError
from millrace_catalog.sinks.normalized_json import normalized
from millrace_catalog.types.identifiers import quote_name
from millrace_cdc.rows.change_order import ReachedTimes
from millrace_cdc.rows.change_records import kept_columns, row_images
from millrace_cdc.rows.compiled_readers import object_reader, raw_reader
from millrace_cdc.rows.kept_values import check_same_key, with_kept_values

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from millrace.contracts import ChangeBatch

_STATE_COLUMNS = f"{CHANGE_BATCH_COLUMNS}, key BINARY"
_BATCH_ROWS = 10_000
_PLACE = {"topic": "", "partition": 0, "offset": 0}

_encode = msgspec.json.Encoder().encode
Key = Callable[[bytes], bytes]
Partition = tuple[str, int]


@dataclass(frozen=True)
class KeyedTable:
    """A table with the columns that identify its rows; plain data that travels to executors.

    Attributes:
        primary_key: The columns; empty for a table that only gets insertions.
        normalized: Those of which several texts mean the same value, with the kind of their type, as ``DECIMAL``.
    """

    primary_key: tuple[str, ...]
    normalized: Mapping[str, str]


class State(NamedTuple):
    """The state of a key.

    Attributes:
        reached: The newest timestamp that its partition had reached by then, in microseconds.
        topic: The topic of the message that has made it.
        partition: Its partition.
        offset: Its offset.
        row: The row as JSON; None where there is no row any more.
        kept: The columns whose values stay as the sink has them; they are null in the row.
    """

    reached: int
    topic: str
    partition: int
    offset: int
    row: bytes | None
    kept: tuple[str, ...] = ()

    def after(self, earlier: State | None) -> State:
        """Return the state with the values of an earlier one in the columns that this one leaves as they were."""
        if not self.kept or self.row is None or earlier is None or earlier.row is None:
            return self
        row = with_kept_values(self.row, earlier.row, set(self.kept) - set(earlier.kept))
        return self._replace(row=row, kept=tuple(name for name in self.kept if name in earlier.kept))


def final_states(
    batch: ChangeBatch,
    tables: Mapping[str, KeyedTable],
    write: Callable[[FinalStates], Iterable[pa.RecordBatch]],
    columns: str,
) -> DataFrame:
    """Find the last states of a micro-batch's keys, and write them as batches of one's own.

    With one task that is a single pass. With more, each finds its own, and they are divided by key.

    Args:
        batch: The micro-batch.
        tables: Its tables, by id.
        write: Writes the states of some keys, on the executors.
        columns: The columns that it writes, as Spark SQL.
    """
    tables = dict(tables)

    def finish(changes: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        return write(FinalStates(tables).read(changes))

    found = batch.map(finish, columns)
    tasks = found.rdd.getNumPartitions()
    if tasks == 1:
        return found
    partly = batch.map(lambda changes: FinalStates(tables).read(changes).changes(), _STATE_COLUMNS)
    return partly.repartition(tasks, "table", "key").mapInArrow(
        lambda states: write(FinalStates(tables).merge(states)), columns
    )


class FinalStates:
    """The last states of the keys of some changes.

    Args:
        tables: The tables, by id.
    """

    def __init__(self, tables: Mapping[str, KeyedTable]) -> None:
        self._tables = tables
        self._keys: dict[str, Key] = {}
        self._states: dict[str, dict[Partition, dict[bytes, State]]] = {}
        self._rows: dict[str, list[State]] = {}

    def read(self, batches: Iterable[pa.RecordBatch]) -> FinalStates:
        """Read the changes of a task, with the columns of `CHANGE_BATCH_COLUMNS`, and return itself.

        Raises:
            MessageError: A key has a NULL, or a table without primary key has an update or a deletion.
        """
        times = ReachedTimes()
        for batch in batches:
            self._read(batch, times.read(batch))
        return self

    def merge(self, batches: Iterable[pa.RecordBatch]) -> FinalStates:
        """Read what `changes` has yielded for the states of several tasks, and return itself."""
        for batch in batches:
            self._read(batch, batch.column("timestamp").cast(pa.int64()))
        return self

    def tables(self) -> list[str]:
        """Return the ids of the tables that have states."""
        return [*self._states, *self._rows]

    def rows(self, table: str) -> Iterator[State]:
        """Yield the rows of a table's keys, or the inserted rows of a table that has none."""
        yield from self._rows.get(table, ())
        yield from (state for state in self._merged(table).values() if state.row is not None)

    def deleted(self, table: str) -> Iterator[bytes]:
        """Yield the keys whose rows are gone, as JSON objects."""
        return (key for key, state in self._merged(table).items() if state.row is None)

    def changes(self) -> Iterator[pa.RecordBatch]:
        """Yield the states as changes again, with their keys, and the times reached as timestamps."""
        rows: list[tuple[str, bytes, State]] = []
        for table, inserted in self._rows.items():
            rows += ((table, b"%d-%d" % (state.partition, state.offset), state) for state in inserted)
        for table, partitions in self._states.items():
            # Only who has all changes of a key can compare its partitions
            rows += ((table, key, state) for states in partitions.values() for key, state in states.items())
        for start in range(0, len(rows), _BATCH_ROWS):
            yield _as_changes(rows[start : start + _BATCH_ROWS])

    def _read(self, batch: pa.RecordBatch, reached: pa.Int64Array) -> None:
        texts = (batch.column(name).to_pylist() for name in ("table", "operation"))
        # Not every source has messages with places
        places = (batch.column(name).fill_null(none).to_pylist() for name, none in _PLACE.items())
        times = reached.to_pylist()
        kept_columns_of = kept_columns(batch)
        for index, (table, operation, topic, partition, offset, time, before, after) in enumerate(
            zip(*texts, *places, times, *row_images(batch), strict=True)
        ):
            key_of = self._keys.get(table) or self._open(table)
            try:
                if table in self._rows:
                    self._insert(table, operation, State(time, topic, partition, offset, after))
                    continue
                states = self._states[table].setdefault((topic, partition), {})
                kept = tuple(kept_columns_of.get(index, ()))
                if kept:
                    check_same_key(key_of, before, after, kept)
                for image, row in ((None if kept else before, None), (after, after)):
                    if image is not None:
                        key = key_of(image)
                        other = states.get(key)
                        if other is None or other.offset <= offset:
                            state = State(time, topic, partition, offset, row, kept)
                            states[key] = state.after(other) if kept else state
            except ValueError as error:
                place = f"message in topic {topic!r}, partition {partition}, offset {offset}"
                raise TableFailedError(table, f"{place}: it {error}") from None

    def _insert(self, table: str, operation: str, state: State) -> None:
        if operation != "c":
            raise ValueError(
                "has no primary key, so that its rows cannot be updated or deleted: name it by 'primary-keys' of a "
                "transform"
            )
        self._rows[table].append(state)

    def _open(self, name: str) -> Key:
        table = self._tables[name]
        key = self._keys[name] = _key_reader(table)
        if table.primary_key:
            self._states[name] = {}
        else:
            self._rows[name] = []
        return key

    def _merged(self, table: str) -> Mapping[bytes, State]:
        """Merge the states of partitions, in each of which they are the last ones."""
        parts = list(self._states.get(table, {}).values())
        if len(parts) == 1:
            return parts[0]
        merged: dict[bytes, State] = {}
        partial: set[bytes] = set()
        for states in parts:
            for key, state in states.items():
                other = merged.get(key)
                if state.kept:
                    partial.add(key)
                if other is None or other[:3] < state[:3]:
                    merged[key] = state
        for key in partial:
            in_order = sorted((states[key] for states in parts if key in states), key=lambda state: state[:3])
            merged[key] = functools.reduce(lambda earlier, state: state.after(earlier), in_order)
        return merged


def _as_changes(rows: list[tuple[str, bytes, State]]) -> pa.RecordBatch:
    tables, keys, states = zip(*rows, strict=True)
    times, topics, partitions, offsets, after, kept = zip(*states, strict=True)
    is_gone = [row is None for row in after]
    return pa.record_batch(
        {
            "table": pa.array(tables, pa.string()),
            "operation": pa.array(["d" if gone else "c" for gone in is_gone], pa.string()),
            "before": pa.array([key if gone else None for key, gone in zip(keys, is_gone, strict=True)], pa.binary()),
            "after": pa.array(after, pa.binary()),
            "topic": pa.array(topics, pa.string()),
            "partition": pa.array(partitions, pa.int32()),
            "offset": pa.array(offsets, pa.int64()),
            "timestamp": pa.array(times, pa.int64()).cast(pa.timestamp("us", "UTC")),
            "kept": pa.array([each or None for each in kept], pa.list_(pa.string())),
            "key": pa.array(keys, pa.binary()),
        }
    )


def _key_reader(table: KeyedTable) -> Key:
    """Return a function from a row to its key, as a JSON object; equal keys have equal texts."""
    names = table.primary_key
    kinds = [table.normalized.get(name) for name in names]
    has_kinds = any(kinds)
    key_of, values_of = object_reader(names), raw_reader(names)

    def read(row: bytes) -> bytes:
        key = key_of(row)
        if not has_kinds and b"null" not in key:
            return key
        values = [normalized(kind, bytes(value)) for kind, value in zip(kinds, values_of(key), strict=True)]
        if b"null" in values:
            name = names[values.index(b"null")]
            raise ValueError(f"has NULL in column {quote_name(name)} of its primary key")
        return _encode(dict(zip(names, map(msgspec.Raw, values), strict=True)))

    return read
