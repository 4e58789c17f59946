"""The last change of each key: the same by all sinks, and however changes are divided into micro-batches and tasks."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from operator import itemgetter

import msgspec
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from millrace_cdc.connectors.table_changes.final_changes import final_changes
from millrace_cdc.connectors.table_changes.grouping import TablePlaces, group_changes, map_groups

PARTITIONS = 3
TASKS, PARTS = st.integers(1, 3), st.integers(1, 3)
TABLE = "shop.t"
KEY = pa.schema([("id", pa.int64())])


class Change(msgspec.Struct, frozen=True):
    """A change of a row: its id before and after, its message's place, the newest time of its partition by then, and
    the columns that an update without its old row lacks."""

    before: int | None
    after: int | None
    partition: int
    offset: int
    seconds: int
    reached: int
    kept: list[str] | None = None


@st.composite
def logs(draw, keeps_partition: bool) -> list[Change]:
    """Changes of all partitions, by time reached; ``keeps_partition`` says that a row never moves to another."""
    found = []
    for partition in range(PARTITIONS):
        reached = 0
        for offset in range(draw(st.integers(0, 5))):
            before, after = draw(st.tuples(st.integers(0, 2), st.integers(0, 2)))
            kind, seconds = draw(st.sampled_from("cud")), draw(st.integers(0, 4))
            if keeps_partition:
                before, after = (PARTITIONS * id_ + partition for id_ in (before, after))
            reached = max(reached, seconds)
            ids = None if kind == "c" else before, None if kind == "d" else after
            found.append(Change(*ids, partition, offset, seconds, reached))
    return sorted(found, key=lambda change: (change.reached, change.partition, change.offset))


def as_batch(changes: list[Change]) -> pa.RecordBatch:
    def image(id_: int | None, change: Change) -> bytes | None:
        number = None if change.kept else 100 * change.partition + change.offset
        return None if id_ is None else msgspec.json.encode({"id": id_, "n": number})

    operations = [
        "u" if each.kept else "c" if each.before is None else "d" if each.after is None else "u" for each in changes
    ]
    return pa.record_batch(
        {
            "table": pa.array([TABLE] * len(changes), pa.string()),
            "operation": pa.array(operations, pa.string()),
            "before": pa.array([image(each.before, each) for each in changes], pa.binary()),
            "after": pa.array([image(each.after, each) for each in changes], pa.binary()),
            "topic": pa.array(["t"] * len(changes), pa.string()),
            "partition": pa.array([each.partition for each in changes], pa.int32()),
            "offset": pa.array([each.offset for each in changes], pa.int64()),
            "timestamp": pa.array([each.seconds for each in changes], pa.timestamp("s", "UTC")).cast(
                pa.timestamp("us", "UTC")
            ),
            "kept": pa.array([each.kept for each in changes], pa.list_(pa.string())),
        }
    )


def divided(changes: list[Change], tasks: int) -> list[list[pa.RecordBatch]]:
    """Divide changes into tasks of whole partitions, and each task's into batches of three."""
    parts = [[each for each in changes if each.partition % tasks == task] for task in range(tasks)]
    by_place = [sorted(part, key=lambda each: (each.partition, each.offset)) for part in parts]
    return [[as_batch(part[start : start + 3]) for start in range(0, len(part), 3)] for part in by_place]


def apply(table: dict[int, int], tasks: list[list[pa.RecordBatch]], parts: int) -> None:
    """Change a table as sinks do: by the changes of each of its parts, from all tasks."""
    place = {TABLE: TablePlaces((0,) * parts, KEY)}
    # Tasks end in any order
    grouped = (group_changes(batches, place) for batches in reversed(tasks))
    in_parts = sorted(
        (row for groups in grouped for each in groups for row in each.to_pylist()), key=itemgetter("part")
    )

    def change(_: str, part: int, changes: pa.Table) -> Iterator[pa.RecordBatch]:
        final = final_changes(changes, KEY)
        for row in final.deletes.column("before").to_pylist():
            table.pop(msgspec.json.decode(row)["id"], None)
        rows = map(msgspec.json.decode, final.upserts.column("after").to_pylist())
        for row, kept in zip(rows, final.upserts.column("kept").to_pylist(), strict=True):
            table[row["id"]] = table.get(row["id"]) if kept else row["n"]
        yield from ()

    if in_parts:
        list(map_groups([pa.RecordBatch.from_pylist(in_parts)], change))


def check(micro_batches: list[list[Change]], expected: dict[int, int], tasks: int, parts: int) -> None:
    table: dict[int, int] = {}
    for changes in micro_batches:
        apply(table, divided(changes, tasks), parts)
    assert table == expected


def final_table(log: list[Change]) -> dict[int, int]:
    table: dict[int, int] = {}
    for change in log:
        if change.kept:
            continue
        table.pop(change.before, None)
        if change.after is not None:
            table[change.after] = 100 * change.partition + change.offset
    return table


@st.composite
def partial_logs(draw) -> list[Change]:
    """Changes of rows that never move; some updates lack their old row and its value, which the row has."""
    log = draw(logs(keeps_partition=True))
    found: list[Change] = []
    for change in log:
        is_partial = change.before is not None and change.before == change.after and change.after in final_table(found)
        lacks = is_partial and draw(st.booleans())
        found.append(msgspec.structs.replace(change, before=None, kept=["n"]) if lacks else change)
    return found


@given(logs(keeps_partition=False), st.lists(st.integers(0, 15), max_size=3), TASKS, PARTS)
def test_rows_that_move_between_partitions_are_what_they_came_to_last(log, cuts, tasks, parts):
    # Messages are read about when they are written
    ends = sorted({min(cut, len(log)) for cut in cuts} | {0, len(log)})
    check([log[start:end] for start, end in itertools.pairwise(ends)], final_table(log), tasks, parts)


@given(st.one_of(logs(keeps_partition=True), partial_logs()), st.data(), TASKS, PARTS)
def test_rows_that_keep_their_partition_are_the_same_by_any_micro_batches(log, data, tasks, parts):
    micro_batches: list[list[Change]] = [[], [], []]
    latest = [0] * PARTITIONS
    for change in log:
        latest[change.partition] = data.draw(st.integers(latest[change.partition], 2))
        micro_batches[latest[change.partition]].append(change)
    check(micro_batches, final_table(log), tasks, parts)
