"""Hand the changes of each table to one task, in one job for all tables of a micro-batch.

The first stage groups the changes of each of its tasks by table, without reading them, and writes each group as one
value, so that Spark moves few rows. The second stage has all changes of a table together; a large table is divided into
parts by its keys, or by the partitions of its messages.
"""

from __future__ import annotations

import heapq
import itertools
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from millrace.errors import TableFailedError
from millrace_cdc.rows.arrow_rows import RowError
from millrace_cdc.rows.change_order import REACHED, SEQUENCE, ReachedTimes, in_order
from millrace_cdc.rows.compiled_readers import raw_reader

if TYPE_CHECKING:
    from millrace.contracts import ChangeBatch

ROWS_OF_A_PART = 200_000
"""The same whatever the cluster, so that a repeated micro-batch has the same parts."""

_CHUNK_BYTES = 64 << 20
_GROUP_COLUMNS = "task INT, table STRING, part INT, changes BINARY"
_RESULT_COLUMNS = "table STRING, result STRING"


@dataclass(frozen=True)
class TablePlaces:
    """The tasks of a table.

    Attributes:
        tasks: For each part, its task.
        key: The columns whose values divide the table into parts; empty where the partitions of messages do.
    """

    tasks: tuple[int, ...]
    key: tuple[str, ...] = ()


def map_tables(
    batch: ChangeBatch, function: Callable[[str, int, pa.Table], str], keys: Mapping[str, tuple[str, ...] | None]
) -> dict[str, list[str]]:
    """Map the changes of tables on the executors, in one job; return the results of each table's parts.

    Args:
        batch: The micro-batch.
        function: From a table's id, the number of a part, and the part's changes in order, to the result. It raises
            RowError where a row does not fit.
        keys: The tables to map, with the columns that divide a large one into parts. Equal values must have one text in
            JSON. Without columns the partitions of messages divide it; None for a table of one part.
    """
    parallelism = batch.spark.sparkContext.defaultParallelism
    places = plan_places({name: batch.row_counts[name] for name in keys}, keys, parallelism)
    tasks = 1 + max(task for place in places.values() for task in place.tasks)
    groups = batch.map(lambda batches: group_changes(batches, places), _GROUP_COLUMNS)
    results = (
        groups.repartitionById(tasks, "task")
        .sortWithinPartitions("table", "part")
        .mapInArrow(lambda batches: _map_groups(batches, function), _RESULT_COLUMNS)
    )
    found: dict[str, list[str]] = {}
    for row in results.collect():
        found.setdefault(row.table, []).append(row.result)
    return found


def plan_places(
    rows: Mapping[str, int], keys: Mapping[str, tuple[str, ...] | None], parallelism: int
) -> dict[str, TablePlaces]:
    """Spread tables over tasks, so that all have about as many rows.

    Args:
        rows: The number of changes of each table.
        keys: As of `map_tables`.
        parallelism: The largest number of tasks.
    """
    parts = {
        name: 1 if keys[name] is None else max(1, math.ceil(count / ROWS_OF_A_PART)) for name, count in rows.items()
    }
    loads = [(0, task) for task in range(min(parallelism, sum(parts.values())))]
    tasks: dict[str, list[int]] = {name: [] for name in rows}
    for name in sorted(rows, key=lambda name: (-rows[name] / parts[name], name)):
        for _ in range(parts[name]):
            load, task = heapq.heappop(loads)
            tasks[name].append(task)
            heapq.heappush(loads, (load + 1 + rows[name] // parts[name], task))
    return {name: TablePlaces(tuple(found), keys[name] or ()) for name, found in tasks.items()}


def group_changes(batches: Iterable[pa.RecordBatch], places: Mapping[str, TablePlaces]) -> Iterator[pa.RecordBatch]:
    """Yield groups of the changes of a task, by table and part; those of tables without a place are dropped."""
    for chunk in _chunks(batches):
        yield from _group(chunk, places)


def _chunks(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    held: list[pa.RecordBatch] = []
    size = sequence = 0
    times = ReachedTimes()
    for batch in batches:
        numbers = pa.array(range(sequence, sequence + batch.num_rows), pa.int64())
        sequence += batch.num_rows
        held.append(batch.append_column(SEQUENCE, numbers).append_column(REACHED, times.read(batch)))
        size += batch.nbytes
        if size >= _CHUNK_BYTES:
            yield pa.Table.from_batches(held)
            held, size = [], 0
    if held:
        yield pa.Table.from_batches(held)


def _group(chunk: pa.Table, places: Mapping[str, TablePlaces]) -> Iterator[pa.RecordBatch]:
    chunk = chunk.sort_by([("table", "ascending"), (SEQUENCE, "ascending")])
    counts = chunk.group_by("table", use_threads=False).aggregate([(SEQUENCE, "count")])
    changes = chunk.drop_columns(["table"])
    groups: list[tuple[int, str, int, bytes]] = []
    start = 0
    for table, count in zip(
        counts.column("table").to_pylist(), counts.column(f"{SEQUENCE}_count").to_pylist(), strict=True
    ):
        place = places.get(table)
        if place is not None:
            parts = _divide(changes.slice(start, count), place)
            groups += ((place.tasks[part], table, part, _to_bytes(rows)) for part, rows in parts)
        start += count
    if groups:
        tasks, tables, numbers, contents = zip(*groups, strict=True)
        yield pa.record_batch(
            {
                "task": pa.array(tasks, pa.int32()),
                "table": pa.array(tables, pa.string()),
                "part": pa.array(numbers, pa.int32()),
                "changes": pa.array(contents, pa.binary()),
            }
        )


def _divide(changes: pa.Table, place: TablePlaces) -> Iterator[tuple[int, pa.Table]]:
    count = len(place.tasks)
    if count == 1:
        yield 0, changes
        return
    divided = changes if not place.key else _split_moves(changes, place.key, count)
    numbers = pa.array(_parts_by_key(divided, place.key, count) if place.key else _parts_by_partition(divided, count))
    for part in range(count):
        rows = divided.filter(pc.equal(numbers, part))
        if rows.num_rows:
            yield part, rows


def _parts_by_partition(changes: pa.Table, count: int) -> list[int]:
    topics, partitions = (changes.column(name).to_pylist() for name in ("topic", "partition"))
    return [zlib.crc32(f"{topic}-{number}".encode()) % count for topic, number in zip(topics, partitions, strict=True)]


def _parts_by_key(changes: pa.Table, key: tuple[str, ...], count: int) -> list[int]:
    part_of = _part_reader(key, count)
    befores, afters = (changes.column(name).to_pylist() for name in ("before", "after"))
    return [part_of(old if new is None else new) for old, new in zip(befores, afters, strict=True)]


def _split_moves(changes: pa.Table, key: tuple[str, ...], count: int) -> pa.Table:
    """Make updates that move a row to another part a deletion and an insertion."""
    part_of = _part_reader(key, count)
    befores, afters = (changes.column(name).to_pylist() for name in ("before", "after"))
    moved = [
        index
        for index, (old, new) in enumerate(zip(befores, afters, strict=True))
        if old is not None and new is not None and part_of(old) != part_of(new)
    ]
    if not moved:
        return changes
    stay = pc.invert(pc.is_in(pa.array(range(changes.num_rows)), value_set=pa.array(moved)))
    rows = changes.take(pa.array(moved))
    return pa.concat_tables(
        [changes.filter(stay), _with_operation(rows, "d", "after"), _with_operation(rows, "c", "before")]
    )


def _with_operation(changes: pa.Table, operation: str, without: str) -> pa.Table:
    operations = pa.array([operation] * changes.num_rows, pa.string())
    none = pa.nulls(changes.num_rows, pa.binary())
    names = changes.column_names
    changes = changes.set_column(names.index("operation"), "operation", operations)
    return changes.set_column(names.index(without), without, none)


def _part_reader(key: tuple[str, ...], count: int) -> Callable[[bytes], int]:
    read = raw_reader(key)
    return lambda row: zlib.crc32(b"\n".join(map(bytes, read(row)))) % count


def _to_bytes(changes: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, changes.schema) as writer:
        writer.write_table(changes)
    return bytes(sink.getvalue())


def _map_groups(
    batches: Iterable[pa.RecordBatch], function: Callable[[str, int, pa.Table], str]
) -> Iterator[pa.RecordBatch]:
    rows = (row for batch in batches for row in _rows(batch))
    for (table, part), groups in itertools.groupby(rows, key=itemgetter(0, 1)):
        tables = [pa.ipc.open_stream(content).read_all() for *_, content in groups]
        changes = in_order(pa.concat_tables(tables))
        try:
            result = function(table, part, changes)
        except RowError as error:
            topic, partition, offset = (
                changes.column(name)[error.index].as_py() for name in ("topic", "partition", "offset")
            )
            place = f"message in topic {topic!r}, partition {partition}, offset {offset}"
            raise TableFailedError(table, f"{place} does not fit it: {error.reason}") from error
        yield pa.record_batch({"table": pa.array([table], pa.string()), "result": pa.array([result], pa.string())})


def _rows(batch: pa.RecordBatch) -> Iterator[tuple[str, int, pa.Buffer]]:
    tables, parts = (batch.column(name).to_pylist() for name in ("table", "part"))
    for table, part, content in zip(tables, parts, batch.column("changes"), strict=True):
        yield table, part, content.as_buffer()
