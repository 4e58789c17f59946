"""Rows of Debezium's envelopes in Avro."""

from __future__ import annotations

import pyarrow as pa

from millrace_formats.avro.debezium_changes import changes_of, envelope_fields

SCHEMA = pa.schema([("id", pa.int64())])


def envelopes(*rows: tuple[int | None, int | None, str]) -> pa.RecordBatch:
    images = [[None if row[place] is None else {"id": row[place]} for row in rows] for place in (0, 1)]
    fields = envelope_fields(SCHEMA)
    columns = [*images, [row[2] for row in rows]]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, fields, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def test_an_update_without_its_old_row_is_its_new_row_where_that_is_asked_for() -> None:
    found = envelopes((None, 1, "c"), (1, 2, "u"), (None, 3, "u"), (None, None, "u"), (None, None, "d"))
    changes = changes_of(found, SCHEMA, upserts=True)
    rows = zip(changes.kinds.to_pylist(), changes.rows["id"].to_pylist(), changes.envelope_index.tolist(), strict=True)
    assert list(rows) == [("+I", 1, 0), ("-U", 1, 1), ("+U", 2, 1), ("+U", 3, 2)]
    assert [error.index for error in changes.errors] == [3, 4]
    refused = changes_of(found, SCHEMA)
    assert [error.index for error in refused.errors] == [2, 3, 4]
    assert "'debezium-avro-confluent.updates-without-old-row' = 'upsert'" in refused.errors[0].reason
    assert "updates-without-old-row" not in refused.errors[1].reason
