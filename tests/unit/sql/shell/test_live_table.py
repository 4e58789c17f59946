from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import Row
from pyspark.sql.types import StructType

from millrace_sql.execution.results import TableResult
from millrace_sql.shell.live_table import LiveResult, LiveTable


def test_rows_without_a_key_are_counted():
    table = LiveTable()
    for kind, row in [("+I", ("a",)), ("+I", ("a",)), ("-D", ("a",)), ("+I", ("b",)), ("-U", ("b",)), ("+U", ("c",))]:
        table.apply(kind, row)
    assert table.newest(10) == [("a",), ("c",)]
    assert (len(table), table.changes) == (2, 6)


def test_a_key_keeps_its_latest_row():
    table = LiveTable(key=[0])
    for kind, row in [("+I", (1, "a")), ("+I", (2, "b")), ("+U", (1, "c")), ("-D", (2, "b")), ("-D", (3, "x"))]:
        table.apply(kind, row)
    assert table.newest(10) == [(1, "c")]


def test_a_table_of_one_row_keeps_the_latest():
    table = LiveTable(key=[])
    for kind, count in [("+I", 3), ("+U", 5), ("+U", 8)]:
        table.apply(kind, (count,))
    assert table.newest(10) == [(8,)]
    table.apply("-D", (8,))
    assert len(table) == 0


def test_the_key_of_a_result_is_found_whatever_the_case_of_its_columns():
    schema = StructType().add("Id", "integer").add("n", "integer").add("__row_kind", "string")
    changes = [Row(1, 1, "+I"), Row(1, 2, "+U"), Row(2, 1, "+I")]
    result = LiveResult(TableResult(schema, changes, is_changelog=True, upsert_key=("id",)))
    result.follow()
    assert result.table.newest(10) == [(1, 2), (2, 1)]


def test_the_rows_that_changed_last_are_shown():
    table = LiveTable(key=[0])
    for number in (1, 2, 3, 1):
        table.apply("+U", (number, "x"))
    assert table.newest(2) == [(3, "x"), (1, "x")]


def test_nested_values_are_rows_too():
    table = LiveTable()
    row = ([1, {"a": [2]}], bytearray(b"x"))
    table.apply("+I", row)
    assert table.newest(1) == [row]
    table.apply("-D", row)
    assert len(table) == 0


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans())))
def test_the_rows_are_those_of_a_dictionary(changes):
    table, expected = LiveTable(key=[0]), {}
    for key, value, is_delete in changes:
        table.apply("-D" if is_delete else "+U", (key, value))
        expected.pop(key, None)
        if not is_delete:
            expected[key] = value
    assert table.newest(100) == list(expected.items())
