"""The last change of each key: the same by all sinks, and however changes are divided into micro-batches and tasks."""

from __future__ import annotations

import itertools

import msgspec
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from millrace_cdc.connectors.final_states import FinalStates, KeyedTable
from millrace_cdc.connectors.iceberg.file_writer import last_rows
from millrace_cdc.connectors.table_files.grouping import TablePlaces, group_changes
from millrace_cdc.connectors.table_files.kept_values import with_earlier_values, with_table_values
from millrace_cdc.rows.change_order import in_order

PARTITIONS = 3
TABLE = "shop.t"
COLUMNS = pa.schema([("id", pa.int64()), ("n", pa.int64())])


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


def by_states(table: dict[int, int], tasks: list[list[pa.RecordBatch]]) -> None:
    """Change a table as sinks do that get the last states of keys."""
    keyed = {TABLE: KeyedTable(("id",), {})}
    states = [batch for batches in tasks for batch in FinalStates(keyed).read(batches).changes()]
    merged = FinalStates(keyed).merge(reversed(states)) if len(tasks) > 1 else FinalStates(keyed).read(tasks[0])
    for key in merged.deleted(TABLE):
        table.pop(msgspec.json.decode(key)["id"], None)
    for state in merged.rows(TABLE):
        row = msgspec.json.decode(state.row)
        table[row["id"]] = table.get(row["id"]) if state.kept else row["n"]


def by_columns(table: dict[int, int], tasks: list[list[pa.RecordBatch]]) -> None:
    """Change a table as sinks do that write files."""
    place = {TABLE: TablePlaces((0,))}
    groups = [row["changes"] for batches in tasks for each in group_changes(batches, place) for row in each.to_pylist()]
    if groups:
        changes = in_order(pa.concat_tables([pa.ipc.open_stream(each).read_all() for each in reversed(groups)]))
        last = last_rows(with_earlier_values(changes, ("id",)), COLUMNS, ("id",))
        known = pa.table({"id": pa.array(table, pa.int64()), "n": pa.array(table.values(), pa.int64())})
        rows = with_table_values(last.rows, last.kept, known, ("id",))
        for id_ in last.keys.column("id").to_pylist():
            table.pop(id_, None)
        table.update(zip(rows.column("id").to_pylist(), rows.column("n").to_pylist(), strict=True))


def check(micro_batches: list[list[Change]], expected: dict[int, int], tasks: int) -> None:
    for reduce in (by_states, by_columns):
        table: dict[int, int] = {}
        for changes in micro_batches:
            reduce(table, divided(changes, tasks))
        assert table == expected, reduce.__name__


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


@given(logs(keeps_partition=False), st.lists(st.integers(0, 15), max_size=3), st.integers(1, 3))
def test_rows_that_move_between_partitions_are_what_they_came_to_last(log, cuts, tasks):
    # Messages are read about when they are written
    ends = sorted({min(cut, len(log)) for cut in cuts} | {0, len(log)})
    check([log[start:end] for start, end in itertools.pairwise(ends)], final_table(log), tasks)


@given(st.one_of(logs(keeps_partition=True), partial_logs()), st.data(), st.integers(1, 3))
def test_rows_that_keep_their_partition_are_the_same_by_any_micro_batches(log, data, tasks):
    micro_batches: list[list[Change]] = [[], [], []]
    latest = [0] * PARTITIONS
    for change in log:
        latest[change.partition] = data.draw(st.integers(latest[change.partition], 2))
        micro_batches[latest[change.partition]].append(change)
    check(micro_batches, final_table(log), tasks)
