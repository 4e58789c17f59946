"""Writes by a format of changes: where their row kinds come from."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from millrace.configuration.build import configure_sink
from millrace.errors import MessageError, SchemaError
from millrace.records.producer_records import ProducerRecords
from millrace.sink.writer.record_builder import record_builder_for

ROWS = pa.record_batch({"id": [1, 2, 3, 4], "row_kind": ["+I", "-U", "+U", "-D"], "k": ["a", "b", "c", "d"]})


def encoded(rows: pa.RecordBatch, **options: str) -> list[ProducerRecords]:
    given = {"properties.bootstrap.servers": "h:1", "topic": "orders", "format": "debezium-json"}
    named = {name.replace("_", "."): value for name, value in options.items()}
    return list(record_builder_for(configure_sink({**given, **named}), rows.schema).build(rows))


def values(rows: pa.RecordBatch, **options: str) -> list[dict[str, object]]:
    (records,) = encoded(rows, **options)
    return [json.loads(payload or b"null") for payload in records.values.to_list()]


def test_the_column_gives_the_row_kinds_and_is_no_part_of_the_value() -> None:
    assert values(ROWS.select(["id", "row_kind"])) == [
        {"before": None, "after": {"id": 1}, "op": "c"},
        {"before": {"id": 2}, "after": None, "op": "d"},
        {"before": None, "after": {"id": 3}, "op": "c"},
        {"before": {"id": 4}, "after": None, "op": "d"},
    ]


def test_it_may_have_another_name() -> None:
    renamed = ROWS.rename_columns(["id", "op", "row_kind"])
    first, second, *_ = values(renamed, **{"changelog.row-kind-column": "op"})
    assert (first["after"], second["before"]) == ({"id": 1, "row_kind": "a"}, {"id": 2, "row_kind": "b"})


def test_rows_without_the_column_are_inserted() -> None:
    assert [value["op"] for value in values(ROWS.select(["id"]))] == ["c"] * 4


def test_it_stands_beside_metadata() -> None:
    (records,) = encoded(ROWS, metadata_columns="__raw_key__ AS k")
    assert records.keys is not None
    assert list(records.keys.to_list()) == [b"a", b"b", b"c", b"d"]
    assert records.values.to_list()[3] == b'{"before":{"id":4},"after":null,"op":"d"}'


@pytest.mark.parametrize(("kind", "shown"), [(None, "NULL"), ("D", "'D'"), ("", "''")])
def test_a_row_kind_that_is_none_is_told_with_its_row(kind: str | None, shown: str) -> None:
    rows = pa.record_batch({"id": [1, 2], "row_kind": ["+I", kind]})
    with pytest.raises(MessageError) as error:
        encoded(rows)
    assert str(error.value) == f"column 'row_kind', row 1: expected a row kind of +I, -U, +U, -D, found {shown}"


def test_a_column_of_another_type_is_refused() -> None:
    with pytest.raises(SchemaError) as error:
        encoded(pa.record_batch({"id": [1], "row_kind": [1]}))
    assert str(error.value) == (
        "column 'row_kind' has the row kinds and must be STRING, not int64; drop it when all rows are to be inserted, "
        "or name another one by the option 'changelog.row-kind-column'"
    )


def test_it_alone_is_no_value() -> None:
    with pytest.raises(SchemaError, match=r"no column is left .* or are the row kinds \(row_kind\)\. Add columns"):
        encoded(ROWS.select(["row_kind"]))


def test_with_a_format_of_rows_the_column_is_part_of_the_value() -> None:
    assert values(ROWS.select(["row_kind"]), format="json")[1] == {"row_kind": "-U"}


def test_what_a_format_tells_of_messages_cannot_be_written() -> None:
    rows = pa.record_batch({"id": [1], "t": ["orders"]})
    with pytest.raises(SchemaError) as error:
        encoded(rows, metadata_columns="value.source.table AS t")
    assert str(error.value) == (
        "metadata column 't' (value.source.table) cannot be written, which only a read has: drop the column, or its "
        "entry in the option 'metadata.columns'"
    )
    assert values(rows.select(["id"]), metadata_columns="value.source.table AS t")[0]["after"] == {"id": 1}
