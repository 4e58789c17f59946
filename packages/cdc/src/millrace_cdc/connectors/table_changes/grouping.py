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
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from millrace.errors import TableFailedError
from millrace_cdc.connectors.table_changes.changed_keys import changed_keys
from millrace_cdc.connectors.table_changes.row_images import ChangeError
from millrace_cdc.rows.change_order import REACHED, SEQUENCE, ReachedTimes, count_rows, in_order

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from millrace.contracts import ChangeBatch

MapChanges = Callable[[str, int, pa.Table], Iterable[pa.RecordBatch]]
"""A function from a table's id, the number of a part, and the part's changes in order, to batches."""

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
        key: The columns whose values divide the table into parts; none where the partitions of messages do.
    """

    tasks: tuple[int, ...]
    key: pa.Schema = field(default_factory=lambda: pa.schema([]))


def map_tables(batch: ChangeBatch, function: MapChanges, keys: Mapping[str, pa.Schema], columns: str) -> DataFrame:
    """Map the changes of tables on the executors, in one job.

    Args:
        batch: The micro-batch.
        function: The function. It raises ChangeError for a change that its table cannot have.
        keys: The tables to map, with the columns that divide a large one into parts, as of `key_schema`; none where the
            partitions of messages do.
        columns: The columns of the function's batches, as Spark SQL.
    """
    parallelism = batch.spark.sparkContext.defaultParallelism
    places = plan_places({name: batch.row_counts[name] for name in keys}, keys, parallelism)
    tasks = 1 + max(task for place in places.values() for task in place.tasks)
    groups = batch.map(lambda batches: group_changes(batches, places), _GROUP_COLUMNS)
    in_places = groups.repartitionById(tasks, "task").sortWithinPartitions("table", "part")
    return in_places.mapInArrow(lambda batches: map_groups(batches, function), columns)


def collect_results(
    batch: ChangeBatch, function: Callable[[str, int, pa.Table], str], keys: Mapping[str, pa.Schema]
) -> dict[str, list[str]]:
    """Map the changes of tables to texts: see `map_tables`; return the results of each table's parts."""

    def map_part(table: str, part: int, changes: pa.Table) -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"table": [table], "result": [function(table, part, changes)]})

    results: dict[str, list[str]] = {}
    for row in map_tables(batch, map_part, keys, _RESULT_COLUMNS).collect():
        results.setdefault(row.table, []).append(row.result)
    return results


def plan_places(rows: Mapping[str, int], keys: Mapping[str, pa.Schema], parallelism: int) -> dict[str, TablePlaces]:
    """Spread tables over tasks, so that all have about as many rows.

    Args:
        rows: The number of changes of each table.
        keys: As of `map_tables`.
        parallelism: The largest number of tasks.
    """
    parts = {name: max(1, math.ceil(count / ROWS_OF_A_PART)) for name, count in rows.items()}
    loads = [(0, task) for task in range(min(parallelism, sum(parts.values())))]
    tasks: dict[str, list[int]] = {name: [] for name in rows}
    for name in sorted(rows, key=lambda name: (-rows[name] / parts[name], name)):
        for _ in range(parts[name]):
            load, task = heapq.heappop(loads)
            tasks[name].append(task)
            heapq.heappush(loads, (load + 1 + rows[name] // parts[name], task))
    return {name: TablePlaces(tuple(table_tasks), keys[name]) for name, table_tasks in tasks.items()}


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
    counts = count_rows(chunk, ["table"])
    changes = chunk.drop_columns(["table"])
    groups: list[tuple[int, str, int, bytes]] = []
    start = 0
    for table, count in zip(*(counts.column(name).to_pylist() for name in ("table", "count_all")), strict=True):
        place = places.get(table)
        if place is not None:
            with _blamed_on(table):
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
    if place.key.names:
        divided, numbers = _divide_by_key(changes, place.key, count)
    else:
        divided, numbers = changes, _parts_by_partition(changes, count)
    for part in range(count):
        rows = divided.filter(pc.equal(numbers, part))
        if rows.num_rows:
            yield part, rows


def _parts_by_partition(changes: pa.Table, count: int) -> pa.Array:
    topics, partitions = (changes.column(name).to_pylist() for name in ("topic", "partition"))
    return pa.array(
        [zlib.crc32(f"{topic}-{number}".encode()) % count for topic, number in zip(topics, partitions, strict=True)]
    )


def _divide_by_key(changes: pa.Table, key: pa.Schema, count: int) -> tuple[pa.Table, pa.Array]:
    """Return changes with their parts; an update that moves a row to another part is a deletion and an insertion."""
    old, new = _parts_by_key(changes, key, count)
    moved = pc.fill_null(pc.not_equal(old, new), False)
    stay = pc.invert(moved)
    rows = changes.filter(moved)
    parts = pa.concat_arrays([pc.coalesce(new, old).filter(stay), old.filter(moved), new.filter(moved)])
    halves = _with_operation(rows, "d", "after"), _with_operation(rows, "c", "before")
    return pa.concat_tables([changes.filter(stay), *halves]), parts


def _parts_by_key(changes: pa.Table, key: pa.Schema, count: int) -> list[pa.Array]:
    """Return the parts of old rows and of new ones by their keys; NULL for a change without such a row."""
    keys = changed_keys(changes, key)
    texts = zip(*(_texts(column) for column in keys.columns), strict=True)
    parts = pa.array([zlib.crc32("\n".join(row).encode()) % count for row in texts], pa.int64())
    numbers = pa.array(range(changes.num_rows), pa.int64())
    images = (keys.old, parts[: len(keys.old)]), (keys.new, parts[len(keys.old) :])
    return [image_parts.take(pc.index_in(numbers, value_set=places)) for places, image_parts in images]


def _texts(column: pa.ChunkedArray) -> list[str]:
    """Return a text for each value of a key; equal ones have the same."""
    if pa.types.is_binary(column.type):
        return [value.hex() for value in column.to_pylist()]
    texts: list[str] = column.cast(pa.string()).to_pylist()
    return texts


def _with_operation(changes: pa.Table, operation: str, without: str) -> pa.Table:
    operations = pa.array([operation] * changes.num_rows, pa.string())
    none = pa.nulls(changes.num_rows, pa.binary())
    names = changes.column_names
    changes = changes.set_column(names.index("operation"), "operation", operations)
    return changes.set_column(names.index(without), without, none)


def _to_bytes(changes: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, changes.schema) as writer:
        writer.write_table(changes)
    return bytes(sink.getvalue())


def map_groups(batches: Iterable[pa.RecordBatch], function: MapChanges) -> Iterator[pa.RecordBatch]:
    """Map the groups of a task, which are in the order of tables and parts.

    Raises:
        TableFailedError: A change does not fit its table.
    """
    rows = (row for batch in batches for row in _rows(batch))
    for (table, part), groups in itertools.groupby(rows, key=itemgetter(0, 1)):
        tables = [pa.ipc.open_stream(content).read_all() for *_, content in groups]
        with _blamed_on(table):
            yield from function(table, part, in_order(pa.concat_tables(tables)))


@contextmanager
def _blamed_on(table: str) -> Iterator[None]:
    try:
        yield
    except ChangeError as error:
        raise TableFailedError(table, str(error)) from error


def _rows(batch: pa.RecordBatch) -> Iterator[tuple[str, int, pa.Buffer]]:
    tables, parts = (batch.column(name).to_pylist() for name in ("table", "part"))
    for table, part, content in zip(tables, parts, batch.column("changes"), strict=True):
        yield table, part, content.as_buffer()
