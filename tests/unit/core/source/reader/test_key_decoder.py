"""Columns of keys beside those of values, by the formats of both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from millrace.configuration.build import configure_source
from millrace.errors import SchemaError
from millrace.records.messages import Messages
from millrace.source.reader.decoding_plan import record_batch_builder_for
from millrace_formats.json.format import JsonFormat

Make = Callable[..., Messages]
SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])
EXCEPT_KEY = {"value.fields-include": "EXCEPT_KEY"}
BOTH_JSON = {"value.format": "json", "key.format": "json", "key.fields": "id"}


def rows(read: Messages, schema: pa.Schema = SCHEMA, **options: str) -> list[dict[str, Any]]:
    config = configure_source({"properties.bootstrap.servers": "h:1", **BOTH_JSON, **options})
    made = record_batch_builder_for(config, schema)(read)
    assert made.batch.schema == schema
    assert not made.malformed
    found: list[dict[str, Any]] = made.batch.to_pylist()
    return found


def test_columns_are_read_from_key_and_value(messages: Make) -> None:
    read = messages({"key": b'{"id":1}', "value": b'{"name":"a"}'}, {"key": b'{"id":2}', "value": b'{"name":"b"}'})
    assert rows(read, **EXCEPT_KEY) == [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]


def test_by_default_a_column_of_both_is_read_from_the_value(messages: Make) -> None:
    read = messages({"key": b'{"id":1}', "value": b'{"id":2,"name":"a"}'}, {"key": b'{"id":1}', "value": b"{}"})
    assert rows(read) == [{"id": 2, "name": "a"}, {"id": None, "name": None}]


def test_prefixes_tell_fields_of_the_same_name_apart(messages: Make) -> None:
    read = messages({"key": b'{"id":1}', "value": b'{"id":2}'})
    schema = pa.schema([("v_id", pa.int64()), ("k_id", pa.int64())])
    prefixes = {"key.fields": "k_id", "key.fields-prefix": "k_", "value.fields-prefix": "v_"}
    assert rows(read, schema, **prefixes, **EXCEPT_KEY) == [{"v_id": 2, "k_id": 1}]


def test_key_and_value_have_formats_of_their_own(messages: Make) -> None:
    read = messages({"key": b"7", "value": b'{"name":"a"}'})
    assert rows(read, **{"key.format": "csv"}, **EXCEPT_KEY) == [{"id": 7, "name": "a"}]


def test_the_key_has_its_columns_in_the_order_of_the_option(messages: Make) -> None:
    read = messages({"key": b"7,a", "value": b'{"x":1}'})
    schema = pa.schema([("name", pa.string()), ("x", pa.int32()), ("id", pa.int64())])
    options = {"key.format": "csv", "key.fields": "id;name"}
    assert rows(read, schema, **options, **EXCEPT_KEY) == [{"name": "a", "x": 1, "id": 7}]


def test_a_value_alone_may_have_a_prefix(messages: Make) -> None:
    config = configure_source({"properties.bootstrap.servers": "h:1", "format": "json", "value.fields-prefix": "v_"})
    batch = record_batch_builder_for(config, pa.schema([("v_id", pa.int64())]))(messages({"value": b'{"id":1}'})).batch
    assert batch.to_pylist() == [{"v_id": 1}]


def test_without_a_key_its_columns_are_null(messages: Make) -> None:
    read = messages(
        {"key": b'{"id":1}', "value": b'{"name":"a"}'},
        {"key": None, "value": b'{"name":"b"}'},
        {"key": b'{"id":3}', "value": b'{"name":"c"}'},
    )
    assert [row["id"] for row in rows(read, **EXCEPT_KEY)] == [1, None, 3]


def test_a_message_without_a_row_has_none_whatever_its_key_is(messages: Make) -> None:
    read = messages(
        {"key": b'{"id":1}', "value": None},
        {"key": b'{"id":2}', "value": b'{"name":"b"}'},
        {"key": None, "value": b'{"name":"c"}'},
        {"key": b'{"id":4}', "value": b""},
    )
    assert rows(read, **EXCEPT_KEY) == [{"id": 2, "name": "b"}, {"id": None, "name": "c"}]


def test_each_row_of_a_message_has_its_key(messages: Make) -> None:
    update = b'{"op":"u","before":{"name":"a"},"after":{"name":"b"}}'
    read = messages(
        {"key": b'{"id":1}', "value": update},
        {"key": b'{"id":2}', "value": None},
        {"key": b'{"id":3}', "value": b'{"op":"d","before":{"name":"c"}}'},
    )
    schema = pa.schema([("row_kind", pa.string()), *SCHEMA])
    assert rows(read, schema, **{"value.format": "debezium-json"}, **EXCEPT_KEY) == [
        {"row_kind": "-U", "id": 1, "name": "a"},
        {"row_kind": "+U", "id": 1, "name": "b"},
        {"row_kind": "-D", "id": 3, "name": "c"},
    ]


def test_metadata_stands_beside_key_and_value(messages: Make) -> None:
    read = messages({"key": b'{"id":1}', "value": b'{"name":"a"}'})
    schema = pa.schema([("raw", pa.binary()), *SCHEMA, ("offset", pa.int64())])
    options = {"metadata.columns": "offset, __raw_key__ AS raw", **EXCEPT_KEY}
    assert rows(read, schema, **options) == [{"raw": b'{"id":1}', "id": 1, "name": "a", "offset": 100}]


def test_a_tolerated_malformed_key_leaves_its_columns_null(messages: Make) -> None:
    read = messages({"key": b"{oops", "value": b'{"name":"a"}'})
    assert rows(read, **{"key.json.ignore-parse-errors": "true"}, **EXCEPT_KEY) == [{"id": None, "name": "a"}]


def test_a_key_field_that_the_schema_lacks_is_refused(messages: Make) -> None:
    with pytest.raises(SchemaError, match=r"option 'key\.fields' names 'key_id', which is not a column for formats"):
        rows(messages(), **{"key.fields": "key_id"})


def test_a_column_that_the_format_of_keys_does_not_have_is_refused(messages: Make) -> None:
    with pytest.raises(SchemaError, match="format raw needs exactly one column, not 2"):
        rows(messages(), **{"key.format": "raw", "key.fields": "id;name"})


def test_a_key_has_one_row(messages: Make) -> None:
    options = {"key.format": "support.plugins:Words", "key.fields": "name", **EXCEPT_KEY}
    read = messages({"key": b"a", "value": b'{"id":1}'}, {"key": b"b", "value": b'{"id":2}'})
    assert rows(read, **options) == [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]


def test_a_key_of_several_rows_is_malformed(messages: Make) -> None:
    config = configure_source({"properties.bootstrap.servers": "h:1", **BOTH_JSON, **EXCEPT_KEY})
    read = messages(
        {"key": b'[{"id":1}]', "value": b'{"name":"a"}'},
        {"key": b'[{"id":2},{"id":3}]', "value": b'{"name":"b"}'},
        {"key": b"{", "value": b'{"name":"c"}'},
        {"key": b'{"id":4}', "value": b'[{"name":"d"},{"name":"e"}]'},
    )
    built = record_batch_builder_for(config, SCHEMA)(read)
    found = [{"id": 1, "name": "a"}, {"id": 4, "name": "d"}, {"id": 4, "name": "e"}]
    assert built.batch.to_pylist() == found
    assert [each.message.offset() - 100 for each in built.malformed] == [1, 2]
    assert built.malformed[0].reason == "it has 2 rows, and a key has one"
    assert built.malformed[0].is_key


class HeadedJson(JsonFormat):
    """JSON whose beginning may be in a header."""

    def schema_header(self, *, is_key: bool) -> str | None:
        return "key-begins" if is_key else "value-begins"


def test_a_header_of_the_format_stands_before_key_and_value(messages: Make) -> None:
    headers = [("key-begins", b'{"id":'), ("value-begins", b"lost"), ("value-begins", b'{"name":')]
    read = messages(
        {"key": b"1}", "value": b'"a"}', "headers": headers},
        {"key": b'{"id":2}', "value": b'{"name":"b"}', "headers": [("other", b"x")]},
        {"key": b'{"id":3}', "value": None, "headers": headers[1:]},
        {"key": b'{"id":4}', "value": b'{"name":"d"}'},
    )
    headed = f"{__name__}:HeadedJson"
    found = rows(read, **{"value.format": headed, "key.format": headed}, **EXCEPT_KEY)
    assert found == [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}, {"id": 4, "name": "d"}]
