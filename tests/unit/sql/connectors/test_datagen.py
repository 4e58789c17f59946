"""Options of generated tables, and the numbers of their rows."""

from __future__ import annotations

import pytest
from pyspark.sql import types as sql

from millrace.contracts import TableColumn, TableDescription
from millrace.errors import OptionsError, SchemaError
from millrace_sql.connectors.datagen.data_source import NumberRange, RowNumberReader
from millrace_sql.connectors.datagen.factory import DatagenTableFactory

COLUMNS = (
    TableColumn("id", sql.LongType()),
    TableColumn("inner", sql.StructType([sql.StructField("a", sql.IntegerType())])),
)


def source(**options):
    given = {name.replace("__", ".").replace("_", "-"): value for name, value in options.items()}
    return DatagenTableFactory().source(TableDescription(("d", "d", "gen"), COLUMNS, options=given))


def test_a_table_ends_with_its_number_of_rows_or_its_shortest_sequence():
    sequence = {"fields__id__kind": "sequence", "fields__id__start": "5", "fields__id__end": "14"}
    assert source().row_count is None
    assert source(number_of_rows="3").row_count == 3
    assert source(**sequence).row_count == 10
    assert source(**sequence, number_of_rows="3").row_count == 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"fields__ids__min": "1"}, "unknown option 'fields.ids.min'; did you mean 'fields.id.min'"),
        ({"fields__inner__a__null_rate": "2"}, "'fields.inner.a.null-rate'"),
        ({"fields__id__start": "2"}, "'fields.id.start' requires 'fields.id.kind' = 'sequence'"),
        ({"fields__id__kind": "sequence"}, "'fields.id.start' and 'fields.id.end' are required"),
        ({"fields__id__min": "2", "fields__id__max": "1"}, "'fields.id.min': 2 is above 'fields.id.max', 1"),
    ],
)
def test_wrong_options(options, said):
    with pytest.raises(OptionsError) as error:
        source(**options)
    assert said in str(error.value)


def test_a_sequence_has_whole_numbers():
    with pytest.raises(SchemaError, match="a sequence has whole numbers"):
        source(fields__inner__kind="sequence", fields__inner__start="1", fields__inner__end="2")


def test_rows_come_at_their_rate(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    reader = RowNumberReader(rows_per_second=10, number_of_rows=35, tasks=2)
    offset = reader.latestOffset(reader.initialOffset(), None)
    assert offset == {"rows": 10}
    clock[0] += 0.5
    assert reader.latestOffset(offset, None) == {"rows": 15}
    clock[0] += 100
    assert reader.latestOffset(offset, None) == {"rows": 35}


def test_a_query_that_continues_does_not_make_up_for_the_time_between(monkeypatch):
    monkeypatch.setattr("time.monotonic", lambda: 7.0)
    assert RowNumberReader(10, None, 1).latestOffset({"rows": 1000}, None) == {"rows": 1010}


def test_a_query_of_what_there_is_ends(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    reader = RowNumberReader(10, None, 1)
    reader.prepareForTriggerAvailableNow()
    first = reader.latestOffset({"rows": 0}, None)
    clock[0] = 50.0
    assert reader.latestOffset(first, None) == first == {"rows": 10}


def test_tasks_share_the_rows():
    ranges = RowNumberReader(10, None, 3).partitions({"rows": 5}, {"rows": 15})
    assert ranges == [NumberRange(5, 8), NumberRange(8, 11), NumberRange(11, 15)]
    (batch,) = RowNumberReader(10, None, 3).read(NumberRange(11, 15))
    assert batch.column(0).to_pylist() == [11, 12, 13, 14]
