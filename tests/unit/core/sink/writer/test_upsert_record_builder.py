"""Writes to upsert tables: rows become upserts and tombstones."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pytest

from millrace.errors import MessageError, SchemaError
from millrace.sink.writer.change_reducers import KeyedChanges, LatestChangeBuffer, OldRowFilter
from millrace.sink.writer.record_builder import record_builder_for
from millrace.sink.writer.upsert_record_builder import UpsertRecordBuilder
from support.records import keys_of, refused_rows, sink_config, values_of

UPSERT = {
    "connector": "upsert-kafka",
    "topic": "orders",
    "key_format": "csv",
    "key_fields": "id",
    "value_format": "csv",
    "value_fields-include": "EXCEPT_KEY",
}
BUFFER = {"sink_buffer-flush_max-rows": "100", "sink_buffer-flush_interval": "1 h"}


def batch(*changes: tuple[str | None, str | None, str | None]) -> pa.RecordBatch:
    """Rows of a kind, a key and a value."""
    columns = [pa.array([change[column] for change in changes], pa.string()) for column in range(3)]
    return pa.record_batch(columns, ["row_kind", "id", "name"])


def written(batches: Iterable[pa.RecordBatch], **options: str) -> list[tuple[str, str | None]]:
    """The keys and values of a task's records, in order."""
    config = sink_config(**{**UPSERT, **options})
    batches = list(batches)
    schema = batches[0].schema
    builder = UpsertRecordBuilder(record_builder_for(config, schema), config.options, schema)
    records = [records for rows in batches for records in builder.build(rows)]
    records += builder.finish()
    return [
        (str(key, "utf-8"), None if value is None else str(value, "utf-8"))
        for each in records
        for key, value in zip(keys_of(each), values_of(each), strict=True)
    ]


def test_rows_without_kinds_are_upserts() -> None:
    rows = batch(("", "a", "1"), ("", "b", "2"), ("", "a", "3")).select(["id", "name"])
    assert written([rows]) == [("a", "1"), ("b", "2"), ("a", "3")]


def test_inserted_and_updated_rows_are_records_and_deleted_ones_tombstones() -> None:
    rows = batch(("+I", "a", "1"), ("-U", "a", "1"), ("+U", "a", "2"), ("-D", "a", None), ("+I", "b", "3"))
    assert written([rows]) == [("a", "1"), ("a", "2"), ("a", None), ("b", "3")]


def test_the_value_of_a_deleted_row_is_not_encoded() -> None:
    # 'raw' cannot write the number
    rows = pa.record_batch({"id": ["a"], "name": pa.nulls(1, pa.int64()), "row_kind": ["-D"]})
    assert written([rows], value_format="json") == [("a", None)]


def test_an_old_row_that_nothing_follows_is_a_delete_at_the_end() -> None:
    rows = [batch(("-U", "left", "1"), ("+I", "a", "1")), batch(("+U", "b", "2"))]
    assert written(rows) == [("a", "1"), ("b", "2"), ("left", None)]


def test_an_update_of_the_key_deletes_the_old_one() -> None:
    assert written([batch(("-U", "a", "1"), ("+U", "b", "1"))]) == [("b", "1"), ("a", None)]


@pytest.mark.parametrize("later", [("+U", "a", "2"), ("+I", "a", "2"), ("-D", "a", "1")])
def test_an_old_row_waits_for_its_new_row_over_batches(later: tuple[str, str, str]) -> None:
    rows = [batch(("-U", "a", "1")), batch(("+I", "b", "1")), batch(later)]
    assert written(rows) == [("b", "1"), ("a", None if later[0] == "-D" else "2")]


def test_old_rows_come_after_one_another() -> None:
    # Each replaces the one before; the last one has left
    rows = [batch(("-U", "a", "1"), ("-U", "b", "1")), batch(("-U", "a", "2")), batch(("+U", "b", "3"))]
    assert written(rows) == [("b", "3"), ("a", None)]


def test_a_buffer_keeps_the_last_change_of_a_key_in_order() -> None:
    rows = [batch(("+I", "a", "1"), ("+I", "b", "1"), ("+U", "a", "2")), batch(("-D", "b", None), ("+I", "c", "1"))]
    assert written(rows, **BUFFER) == [("a", "2"), ("b", None), ("c", "1")]


def test_a_full_buffer_is_flushed() -> None:
    rows = [batch(*(("+I", key, value) for key, value in zip("aabcab", "123456", strict=True)))]
    limit = {**BUFFER, "sink_buffer-flush_max-rows": "2"}
    # a2, b3 | c4, a5 | b6
    assert written(rows, **limit) == [("a", "2"), ("b", "3"), ("c", "4"), ("a", "5"), ("b", "6")]


def changes(*keys: str) -> KeyedChanges:
    rows = pa.record_batch({"row_kind": ["+I"] * len(keys), "number": range(len(keys))})
    return KeyedChanges(rows, [key.encode() for key in keys])


def test_a_buffer_is_flushed_after_the_interval() -> None:
    now = 0.0
    buffer = LatestChangeBuffer(100, 10.0, lambda: now)
    assert list(buffer.add(changes("a", "b"))) == []
    now = 9.9
    assert list(buffer.add(changes("a"))) == []
    now = 10.0
    assert [each.keys for each in buffer.add(changes("c"))] == [[b"b", b"a"]]
    now = 19.9
    assert list(buffer.add(changes("d"))) == []
    assert [each.keys for each in buffer.finish()] == [[b"c", b"d"]]
    assert list(buffer.finish()) == []


def test_a_buffer_of_few_keys_stays_small() -> None:
    buffer = LatestChangeBuffer(100)
    for _ in range(50):
        assert list(buffer.add(changes(*"ab" * 5_000))) == []
    assert sum(chunk.num_rows for chunk in buffer._chunks) <= 30_000
    (last,) = buffer.finish()
    assert (last.keys, last.rows.column("number").to_pylist()) == ([b"a", b"b"], [9_998, 9_999])


def test_rows_without_old_ones_pass_unchanged() -> None:
    rows = changes("a", "b")
    (passed,) = OldRowFilter("row_kind").add(rows)
    assert passed is rows


def test_with_exactly_once_no_clock_decides_what_is_written() -> None:
    # Every moment is later than an interval of 1 ms; a repeated task must write the same
    rows = [batch(("+I", "a", str(number))) for number in range(200)]
    once = {"sink_delivery-guarantee": "exactly-once", "sink_transactional-id-prefix": "p"}
    assert written(rows, **{**BUFFER, **once, "sink_buffer-flush_interval": "1 ms"}) == [("a", "199")]


@pytest.mark.parametrize("options", [{}, BUFFER])
def test_a_key_that_is_null_is_told_with_its_row(options: dict[str, str]) -> None:
    with pytest.raises(MessageError) as error:
        written([batch(("+I", "a", "1"), ("-D", None, "2"))], **options)
    assert str(error.value).startswith("column 'id', row 1: it belongs to the key of an upsert table ('key.fields')")


def test_an_unknown_row_kind_is_told_with_its_row() -> None:
    with pytest.raises(MessageError, match=r"column 'row_kind', row 1: expected a row kind .*, found 'D'"):
        written([batch(("+I", "a", "1"), ("D", "a", "2"))])


@pytest.mark.parametrize("kind", ["+I", "+U"])
def test_a_value_that_would_be_taken_for_a_delete_is_refused(kind: str) -> None:
    rows = batch(("-D", "a", None), ("+I", "b", "1"), (kind, "c", None))
    with pytest.raises(MessageError, match=r"row with key 'c' has a null value.*write the row kind -D"):
        written([rows], value_format="raw")
    assert written([rows.slice(0, 2)], value_format="raw") == [("a", None), ("b", "1")]


@pytest.mark.parametrize("options", [{}, BUFFER])
def test_a_row_that_cannot_be_encoded_is_told_with_its_key(options: dict[str, str]) -> None:
    changes = [("-U", "a", "1"), ("+U", "a", "2"), ("-D", "b", "1"), ("+I", "c", "3"), ("+I", "d", "x|y")]
    rows = [batch(*changes), batch(("+I", "f", "4"))]
    unquoted = {"value_csv_field-delimiter": "|", "value_csv_disable-quote-character": "true"}
    with pytest.raises(MessageError, match=r"^column name, row with key 'd': the value holds the delimiter"):
        written(rows, **unquoted, **options)


def test_a_format_that_can_write_null_is_not_refused() -> None:
    rows = batch(("+I", "a", None))
    assert written([rows], value_format="json") == [("a", '{"name":null}')]


def test_the_column_of_row_kinds_may_have_another_name_and_must_be_text() -> None:
    named = batch(("-D", "a", "1")).rename_columns(["op", "id", "name"])
    assert written([named], **{"changelog_row-kind-column": "op"}) == [("a", None)]
    config = sink_config(**UPSERT)
    assert "must be STRING, not int64" in refused_rows(
        config, pa.schema([("row_kind", pa.int64()), ("id", pa.string()), ("name", pa.string())])
    )


@pytest.mark.parametrize(("key", "kind"), [("partition", pa.int32()), ("topic", pa.string())])
def test_a_row_cannot_choose_where_it_goes(key: str, kind: pa.DataType) -> None:
    config = sink_config(**UPSERT, metadata_columns=f"{key} AS target, timestamp")
    schema = pa.schema([("target", kind), ("id", pa.string()), ("name", pa.string()), ("timestamp", pa.int64())])
    assert "an upsert table has one topic, and the key of a row decides its partition" in refused_rows(config, schema)
    # A read of the same options has it
    assert record_builder_for(config, schema.remove(0)).metadata == {"timestamp": "timestamp"}


def test_raw_values_and_metadata_can_be_written() -> None:
    rows = pa.record_batch(
        {"id": ["a", "a"], "v": [b"1", None], "timestamp": [5, 6], "row_kind": ["+I", "-D"]},
    )
    config = sink_config(**UPSERT, metadata_columns="__raw_value__ AS v, timestamp")
    builder = UpsertRecordBuilder(record_builder_for(config, rows.schema), config.options, rows.schema)
    (records,) = builder.build(rows)
    assert (values_of(records), records.timestamps) == ([b"1", None], rows.column("timestamp"))


def test_a_table_of_keys_alone_is_refused() -> None:
    config = sink_config(**UPSERT)
    with pytest.raises(SchemaError, match="no column is left for format 'csv'"):
        record_builder_for(config, pa.schema([("id", pa.string()), ("row_kind", pa.string())]))
