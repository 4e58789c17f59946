"""Changes on their way into the tables of sinks: tasks of tables, and the final states of keys."""

from __future__ import annotations

import itertools
import json

import pyarrow as pa
import pytest
from pyspark.sql import types as sql

from millrace.contracts import PipelineTable
from millrace.errors import TableFailedError
from millrace_catalog.types import parse_schema
from millrace_catalog.types.spark import to_spark_schema
from millrace_cdc.connectors.table_changes import grouping
from millrace_cdc.connectors.table_changes.changed_keys import key_schema
from millrace_cdc.connectors.table_changes.final_changes import final_changes
from millrace_cdc.connectors.table_changes.grouping import TablePlaces, group_changes, map_groups, plan_places
from millrace_cdc.connectors.table_changes.row_images import ChangeError
from millrace_cdc.rows.change_order import SEQUENCE
from support.table_changes import changes_at, changes_of_table

NO_KEY = pa.schema([])
ID = pa.schema([("id", pa.int64())])


def key_of(columns: str, *names: str) -> pa.Schema:
    return key_schema(PipelineTable("t", to_spark_schema(parse_schema(columns)), names or ("k",)))


def final(key: pa.Schema, *rows) -> tuple[list[int], list[int]]:
    """Return the offsets of upserts and deletes."""
    found = final_changes(changes_at(*rows), key)
    return found.upserts.column("offset").to_pylist(), found.deletes.column("offset").to_pylist()


def insert(id_):
    return "c", None, {"id": id_, "v": "x"}


def update(old, new):
    return "u", {"id": old, "v": "x"}, {"id": new, "v": "y"}


def delete(id_):
    return "d", {"id": id_, "v": "x"}, None


@pytest.mark.parametrize(
    ("rows", "upserts", "deletes"),
    [
        ([insert(1), insert(2)], [0, 1], []),
        ([insert(1), update(1, 1)], [1], []),
        ([insert(1), delete(1), insert(1)], [2], []),
        ([insert(1), delete(1)], [], [1]),
        ([update(1, 2)], [0], [0]),
        ([insert(1), update(1, 2), insert(1)], [1, 2], []),
        ([update(1, 2), update(2, 3)], [1], [0, 1]),
        # The database does not send the old row, or sends it without its key
        ([insert(1), ("u", None, {"id": 1, "v": "y"})], [1], []),
        ([insert(1), ("u", {"v": "x"}, {"id": 1, "v": "y"})], [1], []),
    ],
)
def test_each_key_has_one_final_state(rows, upserts, deletes):
    assert final(ID, *rows) == (upserts, deletes)


def lacks_value(old, new):
    return "u", None if old is None else {"id": old, "v": None}, {"id": new, "v": None}, {"kept": ["v"]}


def test_an_update_keeps_the_value_of_an_earlier_row_of_its_key_or_of_the_table():
    rows = [insert(1), lacks_value(None, 1), lacks_value(2, 2), insert(3), delete(3), insert(3), lacks_value(None, 3)]
    upserts = final_changes(changes_at(*rows), ID).upserts
    assert list(zip(upserts.column("after").to_pylist(), upserts.column("kept").to_pylist(), strict=True)) == [
        (b'{"id":1,"v":"x"}', None),
        (b'{"id":2,"v":null}', ["v"]),
        (b'{"id":3,"v":"x"}', None),
    ]


@pytest.mark.parametrize("parts", [1, 64])
def test_an_update_that_lacks_a_value_and_changes_its_key_is_refused(parts):
    groups = group_changes([changes_of_table("t", lacks_value(1, 2))], {"t": TablePlaces((0,) * parts, ID)})

    def fold(table, part, changes):
        final_changes(changes, ID)
        yield from ()

    with pytest.raises(TableFailedError, match=r"offset 0 .*changes the key of its row, and lacks column v.*REPLICA"):
        list(map_groups(groups, fold))


def test_a_table_without_primary_key_keeps_all_insertions():
    assert final(NO_KEY, insert(1), insert(1)) == ([0, 1], [])


def test_a_key_has_several_columns_with_any_names():
    rows = [("c", None, {"event": a, "key0": b}) for a, b in (("x", 1), ("x", 2), ("x", 1))]
    assert final(key_of("event STRING, key0 INT", "event", "key0"), *rows) == ([1, 2], [])


@pytest.mark.parametrize(
    ("type_", "same", "other"),
    [
        ("DECIMAL(38, 18)", (b"1.5", b"1.50"), b"1.500000000000000001"),
        ("DOUBLE", (b"0.0", b"-0.0"), b'"NaN"'),
        ("TIMESTAMP(6)", (b'"2024-05-06 07:08:09"', b'"2024-05-06 07:08:09.000000"'), b'"2024-05-06 07:08:10"'),
        ("TIMESTAMP_LTZ(6)", (b'"2024-05-06 07:08:09Z"', b'"2024-05-06 09:08:09+02:00"'), b'"2024-05-06 09:08:09Z"'),
        ("ARRAY<INT>", (b"[1,null]", b"[1,null]"), b"[1]"),
        ("BYTES", (b'"AAE="', b'"AAE="'), b'"AAI="'),
        ("BOOLEAN", (b"true", b"true"), b"false"),
    ],
)
def test_keys_are_equal_where_their_values_are(type_, same, other):
    key = key_of(f"k {type_}")
    rows = [("c", None, b'{"k":%b}' % value) for value in (*same, other)]
    assert final(key, *rows) == ([1, 2], [])
    # Parts of a large table, too
    place = {"t": TablePlaces(tuple(range(64)), key)}
    parts = {}
    for group in group_changes([changes_of_table("t", *rows)], place):
        for part, content in zip(group.column("part").to_pylist(), group.column("changes"), strict=True):
            for offset in pa.ipc.open_stream(content.as_buffer()).read_all().column("offset").to_pylist():
                parts[offset] = part
    assert parts[0] == parts[1] != parts[2]


@pytest.mark.parametrize(
    ("key", "row", "problem"),
    [
        (ID, ("c", None, {"v": "x"}), "its primary key 'id' is NULL"),
        (ID, ("c", None, {"id": None}), "its primary key 'id' is NULL"),
        (ID, ("u", {"id": 1}, {"v": "x"}), "its primary key 'id' is NULL"),
        (ID, ("d", {"v": "x"}, None), "its primary key 'id' is NULL"),
        (ID, ("c", None, {"id": 2**70}), "column 'id'"),
        (NO_KEY, delete(1), "the table has no primary key, so that rows can only be added"),
        (NO_KEY, update(1, 1), "the table has no primary key, so that rows can only be added"),
    ],
)
def test_a_change_that_has_no_key_is_refused_with_its_place(key, row, problem):
    with pytest.raises(ChangeError, match=f"message in topic 't', partition 0, offset 1 does not fit it: {problem}"):
        final(key, insert(5), row)


def test_tables_are_spread_over_tasks_by_their_rows(monkeypatch):
    monkeypatch.setattr(grouping, "ROWS_OF_A_PART", 100)
    rows = {"big": 250, "small": 10, "tiny": 1}
    places = plan_places(rows, {"big": ID, "small": ID, "tiny": NO_KEY}, 2)
    assert [len(places[name].tasks) for name in rows] == [3, 1, 1]
    loads = {0: 0, 1: 0}
    for name, place in places.items():
        for task in place.tasks:
            loads[task] += rows[name] // len(place.tasks)
    assert abs(loads[0] - loads[1]) < 100
    # Tasks without rows are none
    assert {task for place in plan_places({"t": 1}, {"t": NO_KEY}, 8).values() for task in place.tasks} == {0}


def grouped(places, *rows) -> dict[tuple[str, int], list[tuple]]:
    tables = pa.array([row[0] for row in rows], pa.string())
    batch = changes_at(*(row[1:] for row in rows)).add_column(0, "table", tables).to_batches()[0]
    found = {}
    for each in group_changes([batch], places):
        for row in each.to_pylist():
            part = pa.ipc.open_stream(row["changes"]).read_all()
            found[row["table"], row["part"]] = [
                (one["operation"], one["before"], one["after"], one[SEQUENCE]) for one in part.to_pylist()
            ]
    return found


@pytest.mark.parametrize("first", range(4))
def test_each_table_gets_its_own_changes(first):
    # Arrow's groups of some names, such as db.t3, db.t16 and db.t22, are not in the order of their first rows
    for names in itertools.combinations([f"db.t{number}" for number in range(first, 40, 4)] + ["db.t3", "db.t22"], 3):
        rows = [(name, "c", None, name.encode()) for name in names for _ in range(len(name))]
        found = grouped({name: TablePlaces((0,)) for name in names}, *rows)
        for (name, _), changes in found.items():
            assert {after for _, _, after, _ in changes} == {name.encode()}


def test_changes_are_grouped_by_table_and_tables_without_a_place_dropped():
    found = grouped(
        {"a": TablePlaces((0,)), "b": TablePlaces((1,))},
        ("b", "c", None, b"1"),
        ("done", "c", None, b"2"),
        ("a", "d", b"3", None),
        ("b", "u", b"4", b"5"),
    )
    assert found == {("a", 0): [("d", b"3", None, 2)], ("b", 0): [("c", None, b"1", 0), ("u", b"4", b"5", 3)]}


def test_all_changes_of_a_key_are_in_one_part_also_where_it_changes():
    place = {"t": TablePlaces((0, 1, 2, 3), ID)}
    rows = [("t", *insert(number)) for number in range(50)]
    moves = [("t", *update(number, number + 100)) for number in range(50)]
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


def test_an_update_whose_old_row_has_no_key_stays_whole_in_its_part():
    place = {"t": TablePlaces((0, 1, 2, 3), ID)}
    rows = [("t", "u", old, {"id": number}) for number in range(20) for old in (None, {"v": "x"})]
    operations = [operation for content in grouped(place, *rows).values() for operation, *_ in content]
    assert operations == ["u"] * 40


def test_a_change_that_does_not_fit_is_named_by_its_table_and_the_place_of_its_message():
    place = {"partition": 3, "offset": 7}
    groups = group_changes([changes_of_table("db.t", (*insert(1), place))], {"db.t": TablePlaces((0,))})

    def refuse(table, part, changes):
        raise ChangeError.at(changes, 0, "it is too long")

    with pytest.raises(TableFailedError, match=r"table 'db\.t' of the sink: .*partition 3, offset 7 does not fit it"):
        list(map_groups(groups, refuse))
    batch = changes_of_table("db.t", ("c", None, {}, place))
    with pytest.raises(TableFailedError, match=r"table 'db\.t' of the sink: .*partition 3, offset 7 .* 'id' is NULL"):
        list(group_changes([batch], {"db.t": TablePlaces((0, 1), ID)}))


def test_a_key_has_the_types_of_its_columns():
    schema = sql.StructType([sql.StructField("a", sql.LongType()), sql.StructField("b", sql.ArrayType(sql.LongType()))])
    assert key_schema(PipelineTable("t", schema, ("b", "a"))) == pa.schema([("b", pa.string()), ("a", pa.int64())])
    assert key_schema(PipelineTable("t", schema)) == NO_KEY
