"""Reads by a format of changes: where their row kinds go."""

from __future__ import annotations

import json
from collections.abc import Callable

import pyarrow as pa
import pytest

from millrace.configuration.build import configure_source
from millrace.contracts import Decoded
from millrace.errors import SchemaError
from millrace.records.messages import Messages
from millrace.records.row_kinds import decoded_row_kinds
from millrace.source.reader.decoding_plan import record_batch_builder_for

Make = Callable[..., Messages]
UPDATE = {"op": "u", "before": {"id": 1}, "after": {"id": 2}, "source": {"table": "orders"}}
DELETE = {"op": "d", "before": {"id": 2}, "after": None, "source": {"table": "customers"}}


def changes(messages: Make, *items: object) -> Messages:
    return messages(*({"value": item if item is None else json.dumps(item).encode()} for item in items))


def read(messages: Messages, schema: pa.Schema, **options: str) -> list[dict[str, object]]:
    given = {"properties.bootstrap.servers": "h:1", "format": "debezium-json"}
    named = {name.replace("_", "."): value for name, value in options.items()}
    return record_batch_builder_for(configure_source({**given, **named}), schema)(messages).batch.to_pylist()


def refused(schema: pa.Schema, **options: str) -> str:
    with pytest.raises(SchemaError) as error:
        read(Messages(None, []), schema, **options)
    return str(error.value)


@pytest.mark.parametrize("place", [0, 1])
def test_row_kinds_stand_where_the_schema_has_them(messages: Make, place: int) -> None:
    fields = [pa.field("id", pa.int64())]
    fields.insert(place, pa.field("row_kind", pa.string(), nullable=False))
    assert read(changes(messages, UPDATE, None, DELETE), pa.schema(fields)) == [
        {"row_kind": "-U", "id": 1},
        {"row_kind": "+U", "id": 2},
        {"row_kind": "-D", "id": 2},
    ]


def test_the_column_may_have_another_name(messages: Make) -> None:
    schema = pa.schema([("row_kind", pa.int64()), ("op", pa.string())])
    message = {"op": "c", "before": None, "after": {"row_kind": 7}}
    rows = read(changes(messages, message), schema, **{"changelog.row-kind-column": "op"})
    assert rows == [{"row_kind": 7, "op": "+I"}]


def test_metadata_of_each_message_is_spread_over_its_rows(messages: Make) -> None:
    schema = pa.schema([("t", pa.string()), ("id", pa.int64()), ("offset", pa.int64()), ("row_kind", pa.string())])
    rows = read(changes(messages, UPDATE, DELETE), schema, metadata_columns="value.source.table AS t, offset")
    assert rows == [
        {"t": "orders", "id": 1, "offset": 100, "row_kind": "-U"},
        {"t": "orders", "id": 2, "offset": 100, "row_kind": "+U"},
        {"t": "customers", "id": 2, "offset": 101, "row_kind": "-D"},
    ]


def test_a_schema_without_the_column_is_told_how_to_add_it() -> None:
    assert refused(pa.schema([("id", pa.int64())])) == (
        "format 'debezium-json' reads changes of rows, and the schema lacks the column of their kinds (+I, -U, +U, "
        "-D): add row_kind STRING, as in .schema('row_kind STRING, id BIGINT, ...'), or name a column of the schema by "
        "the option 'changelog.row-kind-column'"
    )


def test_a_column_of_another_type_is_refused() -> None:
    assert refused(pa.schema([("row_kind", pa.int64()), ("id", pa.int64())])) == (
        "column 'row_kind' has the row kinds of format 'debezium-json' and must be STRING, not int64; the option "
        "'changelog.row-kind-column' names another column"
    )


def test_with_a_format_of_rows_the_column_is_like_any_other(messages: Make) -> None:
    schema = pa.schema([("row_kind", pa.string())])
    assert read(changes(messages, {"row_kind": "x"}), schema, format="json") == [{"row_kind": "x"}]


def test_rows_without_kinds_are_inserted() -> None:
    kinds = decoded_row_kinds(Decoded(pa.record_batch({"id": [1, 2]})))
    assert kinds.equals(pa.array(["+I", "+I"]))
