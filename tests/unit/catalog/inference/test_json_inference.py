"""The columns that a read of json has where the user gives none."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest

from millrace.contracts import SampledMessage
from millrace.errors import MessageError, SchemaError
from millrace.testing import SchemaInferenceSuite
from millrace_catalog.inference.json_inference import JsonSchemaInference
from millrace_catalog.inference.options import JsonReadOptions, parse_fixed_types


class TestJsonSchemaInference(SchemaInferenceSuite):
    def make_inference(self) -> JsonSchemaInference:
        return JsonSchemaInference(JsonReadOptions(nested="struct"))

    def messages(self) -> Sequence[bytes]:
        return [
            b'{"id": 1, "n": null, "s": {"a": 1, "b": [1]}}',
            b'{"id": 1.5, "at": "2020-12-30 12:13:14Z", "s": {"a": "x", "b": []}, "big": 12345678901234567890}',
        ]

    def malformed(self) -> bytes:
        return b"{"

    def test_types(self) -> None:
        inner = pa.struct([("a", pa.string()), ("b", pa.list_(pa.field("element", pa.int64())))])
        assert self.types(self.infer(self.messages())) == {
            "id": pa.float64(),
            "n": pa.string(),
            "s": inner,
            "at": pa.timestamp("us", "UTC"),
            "big": pa.decimal128(20, 0),
        }


def test_the_column_of_what_is_left_comes_last() -> None:
    inference = JsonSchemaInference(JsonReadOptions(rescued="rest"))
    assert inference.infer({"orders": [SampledMessage(0, 0, None, b'{"id": 1}')]}, 10).names == ["id", "rest"]
    with pytest.raises(SchemaError, match="messages have a field 'rest'; give option "):
        inference.infer({"orders": [SampledMessage(0, 0, None, b'{"rest": 1}')]}, 10)


def test_without_messages_there_are_the_columns_of_fixed_types() -> None:
    fixed = parse_fixed_types("id BIGINT, name VARCHAR(10)")
    assert JsonSchemaInference(JsonReadOptions(fixed_types=fixed)).infer({}, 10) == pa.schema(
        [("id", pa.int64()), ("name", pa.string())]
    )


def test_what_is_malformed_is_told_with_its_number() -> None:
    bad = [SampledMessage(3, offset, None, payload) for offset, payload in enumerate([b"7", b'{"id": 1}', b"\xff"])]
    with pytest.raises(MessageError) as error:
        JsonSchemaInference().infer({"orders": bad}, 10)
    assert str(error.value) == (
        "malformed message in topic 'orders', partition 3, offset 0: expected a JSON object, found 7 (2 of 3 sampled "
        "messages are malformed). Set json.ignore-parse-errors to true to infer the schema without such messages"
    )
    with pytest.raises(SchemaError, match="holds no JSON objects: none of the 2 sampled messages is one"):
        JsonSchemaInference(JsonReadOptions(ignore_parse_errors=True)).infer({"orders": [bad[0], bad[2]]}, 10)


def test_the_rows_of_an_array_are_inferred_from_as_messages_are() -> None:
    array = b'[{"id": 1, "n": null}, null, {"id": 1.5, "name": "x"}]'
    found = JsonSchemaInference().infer({"orders": [SampledMessage(0, 0, None, array)]}, 10)
    assert found == pa.schema([("id", pa.float64()), ("n", pa.string()), ("name", pa.string())])
    bad = [SampledMessage(0, 0, None, b'[{"id": 1}, 7]'), SampledMessage(0, 1, None, b"[")]
    with pytest.raises(MessageError, match="partition 0, offset 0: expected a JSON object, found 7"):
        JsonSchemaInference().infer({"orders": bad}, 10)
    assert JsonSchemaInference(JsonReadOptions(ignore_parse_errors=True)).infer({"orders": bad}, 10).names == ["id"]


def test_the_rows_of_an_array_may_be_of_several_tables() -> None:
    array = b'[{"t": "orders", "id": 1}, {"t": "users", "name": "x"}, {"t": "orders", "at": 2}]'
    options = JsonReadOptions(table_fields=("t",), table_include="orders")
    found = JsonSchemaInference(options).infer({"shop": [SampledMessage(0, 0, None, array)]}, 10)
    assert found.names == ["t", "id", "at"]
