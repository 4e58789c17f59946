"""Changes on their way into files: JSON to columns, the last change of each key, and tasks of tables."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time
from decimal import Decimal

import pyarrow as pa
import pytest

from millrace.errors import MachineError, TableFailedError
from millrace_cdc.connectors.table_files import grouping
from millrace_cdc.connectors.table_files.file_system import file_system
from millrace_cdc.connectors.table_files.grouping import TablePlaces, group_changes, plan_places
from millrace_cdc.connectors.table_files.last_changes import last_changes
from millrace_cdc.rows.arrow_rows import JsonColumns, RowError
from millrace_cdc.rows.change_order import REACHED, SEQUENCE, ReachedTimes, in_order

TYPES = {
    "flag": pa.bool_(),
    "small": pa.int32(),
    "big": pa.int64(),
    "real": pa.float64(),
    "price": pa.decimal128(38, 2),
    "day": pa.date32(),
    "at": pa.timestamp("us"),
    "moment": pa.timestamp("us", "UTC"),
    "clock": pa.time64("us"),
    "text": pa.string(),
    "content": pa.binary(),
    "list": pa.list_(pa.int64()),
    "row": pa.struct([("a", pa.int64()), ("day", pa.date32())]),
}
ROW = {
    "flag": True,
    "small": -1,
    "big": 2**63 - 1,
    "real": 2,
    "price": "12345678901234567890.12",
    "day": "2024-02-29",
    "at": "2024-02-29 01:02:03.123456",
    "moment": "2024-02-29 01:02:03.5+02:00",
    "clock": "01:02:03.25",
    "text": 'a "b"\n\u00e4',
    "content": "AAEC",
    "list": [1, None],
    "row": {"a": 1, "day": "2024-02-29"},
}
EXPECTED = ROW | {
    "real": 2.0,
    "price": Decimal("12345678901234567890.12"),
    "day": date(2024, 2, 29),
    "at": datetime(2024, 2, 29, 1, 2, 3, 123456),
    "moment": datetime(2024, 2, 28, 23, 2, 3, 500000, UTC),
    "clock": time(1, 2, 3, 250000),
    "content": b"\x00\x01\x02",
    "row": {"a": 1, "day": date(2024, 2, 29)},
}


def line(row) -> bytes:
    return json.dumps(row, ensure_ascii=False).replace('"12345678901234567890.12"', "12345678901234567890.12").encode()


@pytest.mark.parametrize("others", [{}, {"map": pa.map_(pa.int64(), pa.date32())}], ids=["fast", "exact"])
def test_values_of_all_types(others):
    columns = JsonColumns(pa.schema({**TYPES, **others}.items()))
    assert columns._is_fast == (not others)
    rows = [line({**ROW, "map": {"7": "2024-02-29"}, "unknown": 1}), b"{}"]
    first, second = columns.read(rows).to_pylist()
    assert first == EXPECTED | {name: [(7, date(2024, 2, 29))] for name in others}
    assert set(second.values()) == {None}


def test_what_arrow_refuses_is_read_exactly():
    columns = JsonColumns(pa.schema([("at", pa.timestamp("us"))]))
    assert columns.read([b'{"at":"2024-02-29 01:02:03.123456789"}']).to_pylist() == [
        {"at": datetime(2024, 2, 29, 1, 2, 3, 123456)}
    ]


def test_the_row_that_does_not_fit_is_named():
    columns = JsonColumns(pa.schema([("id", pa.int32()), ("day", pa.date32())]))
    with pytest.raises(RowError, match="column 'day': 'never' is no date32") as caught:
        columns.read([b'{"id":1,"day":null}', b'{"id":2,"day":"never"}'])
    assert caught.value.index == 1
    with pytest.raises(RowError, match="column 'id'"):
        columns.read([b'{"id":3000000000}'])


def changes(*rows) -> pa.Table:
    """Make changes of topic, partition, offset, timestamp, operation, and rows before and after."""
    columns = list(zip(*rows, strict=True))
    return pa.table(
        {
            "operation": pa.array(columns[4], pa.string()),
            "before": pa.array(columns[5], pa.binary()),
            "after": pa.array(columns[6], pa.binary()),
            "topic": pa.array(columns[0], pa.string()),
            "partition": pa.array(columns[1], pa.int32()),
            "offset": pa.array(columns[2], pa.int64()),
            "timestamp": pa.array([each * 1_000_000 for each in columns[3]], pa.timestamp("us", "UTC")),
        }
    )


def at(topic, partition, offset, timestamp=0) -> tuple:
    return topic, partition, offset, timestamp, "c", None, b'{"id":1}'


def ordered(*rows) -> list[tuple]:
    table = changes(*rows).append_column(SEQUENCE, pa.array(range(len(rows)), pa.int64()))
    (batch,) = table.to_batches()
    found = in_order(table.append_column(REACHED, ReachedTimes().read(batch)))
    assert REACHED not in found.column_names
    return list(zip(*(found.column(name).to_pylist() for name in ("partition", "offset", SEQUENCE)), strict=True))


def test_changes_of_a_partition_are_ordered_by_offset_and_place_in_their_message():
    assert ordered(at("t", 0, 2), at("t", 0, 1, 9), at("t", 0, 2)) == [(0, 1, 1), (0, 2, 0), (0, 2, 2)]


def test_changes_of_several_partitions_are_ordered_by_the_newest_timestamp_that_each_has_reached():
    # The second of partition 1 is older than the first by its own clock, and comes behind it all the same
    found = ordered(at("t", 1, 0, 5), at("t", 1, 1, 3), at("t", 0, 0, 4), at("t", 0, 1, 6))
    assert [each[:2] for each in found] == [(0, 0), (1, 0), (1, 1), (0, 1)]


def keys(*ids) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64())})


@pytest.mark.parametrize(
    ("old", "new", "rows"),
    [
        ([], [(1, 0), (2, 1)], [0, 1]),
        # An update, and an insertion behind a deletion
        ([(1, 1)], [(1, 0), (1, 1)], [1]),
        ([(1, 1)], [(1, 0), (1, 2)], [1]),
        ([(1, 1)], [(1, 0)], []),
        # Another key: 1 becomes 2, and comes again
        ([(1, 1)], [(1, 0), (2, 1), (1, 2)], [1, 2]),
        ([(1, 0), (2, 1)], [(2, 0), (3, 1)], [1]),
    ],
)
def test_the_last_change_of_a_key_counts(old, new, rows):
    old_ids, old_at = zip(*old, strict=True) if old else ((), ())
    new_ids, new_at = zip(*new, strict=True)
    last = last_changes(keys(*old_ids), pa.array(old_at, pa.int64()), keys(*new_ids), pa.array(new_at, pa.int64()))
    assert last.rows.to_pylist() == rows
    assert sorted(last.keys.column("id").to_pylist()) == sorted({*old_ids, *new_ids})


def test_a_key_of_several_columns():
    table = pa.table({"a": pa.array([1, 1, 1], pa.int64()), "b": pa.array(["x", "y", "x"])})
    last = last_changes(table.slice(0, 0), pa.array([], pa.int64()), table, pa.array([0, 1, 2], pa.int64()))
    assert last.rows.to_pylist() == [1, 2]


def test_tables_are_spread_over_tasks_by_their_rows(monkeypatch):
    monkeypatch.setattr(grouping, "ROWS_OF_A_PART", 100)
    rows = {"big": 250, "small": 10, "tiny": 1, "whole": 250}
    places = plan_places(rows, {"big": ("id",), "small": ("id",), "tiny": (), "whole": None}, 2)
    assert [len(places[name].tasks) for name in rows] == [3, 1, 1, 1]
    loads = {0: 0, 1: 0}
    for name, place in places.items():
        for task in place.tasks:
            loads[task] += rows[name] // len(place.tasks)
    assert abs(loads[0] - loads[1]) < 100
    # Tasks without rows are none
    assert {task for place in plan_places({"t": 1}, {"t": ()}, 8).values() for task in place.tasks} == {0}


def grouped(places, *rows) -> dict[tuple[str, int], list[tuple]]:
    tables = pa.array([row[0] for row in rows], pa.string())
    batch = changes(*(row[1:] for row in rows)).to_batches()[0].add_column(0, "table", tables)
    found = {}
    for each in group_changes([batch], places):
        for row in each.to_pylist():
            part = pa.ipc.open_stream(row["changes"]).read_all()
            found[row["table"], row["part"]] = [
                (one["operation"], one["before"], one["after"], one[SEQUENCE]) for one in part.to_pylist()
            ]
    return found


def test_changes_are_grouped_by_table_and_tables_without_a_place_dropped():
    found = grouped(
        {"a": TablePlaces((0,)), "b": TablePlaces((1,))},
        ("b", "t", 0, 0, 0, "c", None, b"1"),
        ("done", "t", 0, 1, 0, "c", None, b"2"),
        ("a", "t", 0, 2, 0, "d", b"3", None),
        ("b", "t", 0, 3, 0, "u", b"4", b"5"),
    )
    assert found == {("a", 0): [("d", b"3", None, 2)], ("b", 0): [("c", None, b"1", 0), ("u", b"4", b"5", 3)]}


def test_all_changes_of_a_key_are_in_one_part_also_where_it_changes():
    place = {"t": TablePlaces((0, 1, 2, 3), ("id",))}
    rows = [("t", "t", 0, number, 0, "c", None, b'{"id":%d,"x":1}' % number) for number in range(50)]
    moves = [
        ("t", "t", 0, 50 + number, 0, "u", b'{"id":%d,"x":1}' % number, b'{"id":%d,"x":2}' % (number + 100))
        for number in range(50)
    ]
    found = grouped(place, *rows, *moves)
    assert len(found) == 4
    seen: dict[int, set[int]] = {}
    for (_, part), content in found.items():
        for operation, before, after, _ in content:
            for image in (before, after):
                if image is not None:
                    seen.setdefault(json.loads(image)["id"], set()).add(part)
            # Halves of an update
            assert operation != "c" or before is None
            assert operation != "d" or after is None
    assert set(seen) == {*range(50), *range(100, 150)}
    assert all(len(parts) == 1 for parts in seen.values())


def test_a_row_that_does_not_fit_is_named_by_the_place_of_its_message():
    (group,) = group_changes(
        [changes(at("t", 3, 7)).to_batches()[0].add_column(0, "table", pa.array(["db.t"]))],
        {"db.t": TablePlaces((0,))},
    )

    def refuse(table, part, rows):
        raise RowError(0, "it is too long")

    with pytest.raises(TableFailedError, match=r"table 'db\.t' of the sink: .*partition 3, offset 7 does not fit it"):
        list(grouping._map_groups([group], refuse))


def test_file_systems_by_url():
    assert file_system("/a/b", {})[1] == file_system("file:/a/b", {})[1] == file_system("file:///a/b", {})[1] == "/a/b"
    found, path = file_system(
        "s3a://bucket/a/b", {"client.region": "eu-west-1", "s3.access-key-id": "k", "s3.secret-access-key": "s"}
    )
    assert (found.type_name, path, found.region) == ("s3", "bucket/a/b", "eu-west-1")
    with pytest.raises(MachineError, match="cannot write to ftp://host: "):
        file_system("ftp://host/a", {})
