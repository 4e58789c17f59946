"""Schemas of json messages: types, nested objects, arrays, options, and what is refused."""

from __future__ import annotations

import json

import pytest

from millrace.errors import MessageError, SchemaError
from millrace_catalog.inference import InferenceOptions, JsonInferenceOptions, JsonReader
from unit.catalog.inference.inferring import infer, infer_with

EXAMPLE = '{"id":101,"name":"VVP","properties":{"owner":"Alibaba Cloud","engine":"Flink"}}'


@pytest.mark.parametrize(
    ("options", "schema"),
    [
        ({}, "id BIGINT, name STRING, properties STRING"),
        ({"nested": "string"}, "id BIGINT, name STRING, properties STRING"),
        ({"flatten": True}, "id BIGINT, name STRING, `properties.owner` STRING, `properties.engine` STRING"),
        ({"nested": "flatten"}, "id BIGINT, name STRING, `properties.owner` STRING, `properties.engine` STRING"),
        ({"nested": "struct"}, "id BIGINT, name STRING, properties ROW<owner STRING, engine STRING>"),
    ],
)
def test_the_example_in_its_forms(options: dict, schema: str) -> None:
    assert str(infer(EXAMPLE, **options).schema) == schema


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        ("true", "BOOLEAN"),
        ("1", "BIGINT"),
        ("-9223372036854775808", "BIGINT"),
        ("9223372036854775807", "BIGINT"),
        ("9223372036854775808", "DECIMAL(19, 0)"),
        ("-18446744073709551616", "DECIMAL(20, 0)"),
        ("9" * 38, "DECIMAL(38, 0)"),
        ("9" * 39, "STRING"),
        ("9" * 10_000, "STRING"),
        ("1.0", "DOUBLE"),
        ("1e5", "DOUBLE"),
        ("1e400", "DOUBLE"),
        ('"1"', "STRING"),
        ('"true"', "STRING"),
        ('"2020-12-30"', "DATE"),
        ('"2020-12-30 12:13:14.123"', "TIMESTAMP(6)"),
        ('"2020-12-30 12:13:14Z"', "TIMESTAMP_LTZ(6)"),
        ('"2020-12-30T12:13:14Z"', "STRING"),
        ('"12:13:14"', "STRING"),
        ("null", "STRING"),
        ("[]", "ARRAY<STRING>"),
        ("[null]", "ARRAY<STRING>"),
        ("[1, 2.5, null]", "ARRAY<DOUBLE>"),
        ('[1, "x", true, [2], {"a": 1}]', "ARRAY<STRING>"),
        ("[[1], [], [null, 2]]", "ARRAY<ARRAY<BIGINT>>"),
        ('[{"a": 1}]', "ARRAY<STRING>"),
        ('{"a": 1}', "STRING"),
        ("{}", "STRING"),
    ],
)
def test_the_type_of_a_value(value: str, type_: str) -> None:
    assert str(infer(f'{{"v": {value}}}').schema) == f"v {type_}"


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        (["1", "null"], "BIGINT"),
        (["1", "9223372036854775808"], "DECIMAL(19, 0)"),
        (["1", "1.5"], "DOUBLE"),
        (["1.5", "9223372036854775808"], "STRING"),
        (["1", "true"], "STRING"),
        (["1", '"x"'], "STRING"),
        (['"2020-12-30"', '"2020-12-30 12:13:14"'], "STRING"),
        (['"2020-12-30 12:13:14"', '"2020-12-30 12:13:14.123456789Z"'], "TIMESTAMP_LTZ(9)"),
        (['"2020-12-30 12:13:14"', '"soon"'], "STRING"),
        (["[1]", "[]", "[1.5]"], "ARRAY<DOUBLE>"),
        (["[1]", "1"], "STRING"),
        (["{}", "1"], "STRING"),
    ],
)
def test_drifting_types_widen(values: list[str], type_: str) -> None:
    messages = [f'{{"v": {value}}}' for value in values]
    assert str(infer(*messages).schema) == f"v {type_}"
    assert infer(*reversed(messages)).schema == infer(*messages).schema


def test_iso_timestamps() -> None:
    values = '{"a": "2020-12-30T12:13:14.123", "b": "2020-12-30T12:13:14Z", "c": "2020-12-30 12:13:14"}'
    schema = infer(values, timestamp_format="ISO-8601").schema
    assert str(schema) == "a TIMESTAMP(6), b TIMESTAMP_LTZ(6), c STRING"


def test_columns_stand_in_the_order_in_which_messages_show_them() -> None:
    table = infer('{"b": 1, "a": 1}', '{"c": 1, "a": 1}', '{"d": 1, "b": 1}')
    assert table.schema.names == ("b", "a", "c", "d")
    assert table.messages == 3


def test_rows_of_several_messages_have_all_fields() -> None:
    first = '{"o": {"a": 1, "b": {"c": 1}}, "l": [{"x": 1}, {"y": "t"}]}'
    second = '{"o": {"b": {"d": null, "c": 1.5}, "e": {}}, "l": [null]}'
    assert str(infer(first, second, nested="struct").schema) == (
        "o ROW<a BIGINT, b ROW<c DOUBLE, d STRING>, e STRING>, l ARRAY<ROW<x BIGINT, y STRING>>"
    )


def test_flattening_goes_to_any_depth_but_not_into_arrays() -> None:
    text = '{"a": {"b": {"c": {"d": 1}}, "e": [{"f": 1}]}, "g": {}}'
    table = infer(text, flatten=True)
    assert str(table.schema) == "`a.b.c.d` BIGINT, `a.e` ARRAY<STRING>, g STRING"
    assert [column.paths for column in table.columns] == [(("a", "b", "c", "d"),), (("a", "e"),), (("g",),)]


def test_the_null_of_a_flattened_object_is_no_column() -> None:
    assert str(infer('{"o": null}', '{"o": {"a": 1}}', flatten=True).schema) == "`o.a` BIGINT"
    assert str(infer('{"o": null}', '{"p": 1}', flatten=True).schema) == "o STRING, p BIGINT"


def test_a_flattened_object_that_is_a_value_elsewhere_is_a_column_beside_its_fields() -> None:
    assert str(infer('{"o": 1}', '{"o": {"a": "x"}}', flatten=True).schema) == "o BIGINT, `o.a` STRING"


def test_a_field_whose_name_is_a_path_too_tells_both_places() -> None:
    table = infer('{"a.b": 1}', '{"a": {"b": 1.5}}', flatten=True)
    assert str(table.schema) == "`a.b` DOUBLE"
    assert table.columns[0].paths == (("a", "b"), ("a.b",))
    assert str(infer('{"a.b": "x", "a": {"b": 1}}', flatten=True).schema) == "`a.b` STRING"


@pytest.mark.parametrize("nested", ["struct", "flatten"])
def test_what_is_nested_too_deeply_is_text(nested: str) -> None:
    deep = '{"a":' * 40 + "1" + "}" * 40
    schema = infer(deep, nested=nested).schema
    assert str(schema).count("ROW") + schema.names[0].count(".") == 32
    assert str(schema).rstrip(">").endswith(" STRING")
    assert str(infer('{"a":' + "[" * 40 + "]" * 40 + "}").schema).count("ARRAY") == 32


def test_primitives_as_strings() -> None:
    text = '{"a": 1, "b": true, "c": [1.5], "d": {"e": 1, "f": null}, "g": "2020-12-30"}'
    schema = infer(text, primitive_as_string=True, nested="struct").schema
    assert str(schema) == "a STRING, b STRING, c ARRAY<STRING>, d ROW<e STRING, f STRING>, g STRING"


def test_fixed_types_are_not_inferred() -> None:
    fixed = "id INT NOT NULL, when STRING, o MAP<STRING, INT>, p.q DECIMAL(5, 2), absent INT"
    text = '{"id": "x", "when": "2020-12-30", "o": {"a": 1}, "p": {"q": 1, "r": 1}}'
    table = infer(text, fixed=fixed, flatten=True)
    assert str(table.schema) == ("id INT NOT NULL, when STRING, o MAP<STRING, INT>, `p.q` DECIMAL(5, 2), `p.r` BIGINT")
    assert [column.is_fixed for column in table.columns] == [True, True, True, True, False]
    assert str(infer(text, fixed=fixed, primitive_as_string=True).schema).startswith("id INT NOT NULL, when STRING")


def test_evidence_is_the_messages_that_made_a_column_what_it_is() -> None:
    table = infer('{"a": null}', '{"a": 1, "b": true}', '{"a": 2}', '{"a": 1.5}', '{"a": 1}', '{"a": "x", "b": null}')
    told = {column.name: [str(evidence) for evidence in column.evidence] for column in table.columns}
    assert told == {
        "a": [
            "NULL since partition 0, offset 0",
            "BIGINT since partition 0, offset 1",
            "DOUBLE since partition 0, offset 3",
            "STRING since partition 0, offset 5",
        ],
        "b": ["BOOLEAN since partition 0, offset 1"],
    }


def test_messages_that_say_nothing_are_counted() -> None:
    inferred = infer_with(JsonReader("orders"), [None, b"", b" \n", b"null", b'{"a": 1}', b"{}"])
    assert inferred.empty_messages == 4
    assert inferred.tables["orders"].messages == 2
    assert str(inferred.tables["orders"].schema) == "a BIGINT"


def test_what_strict_json_refuses_and_the_json_format_reads() -> None:
    inferred = infer_with(JsonReader("orders"), [b'\xef\xbb\xbf{"a": 1}', b'{"b": "x\ty"}', b'{"c": "\\ud800"}'])
    assert str(inferred.tables["orders"].schema) == "a BIGINT, b STRING, c STRING"


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"{", "not JSON: Expecting property name enclosed in double quotes at character 1"),
        (b'{"a": 1} {"b": 2}', "not JSON: Extra data at character 9"),
        (b'{"a": NaN}', "not JSON: NaN is not a JSON number"),
        (b'{"a": "\xff"}', "not UTF-8: byte 0xff at position 7"),
        (b"\x00\x01\x02", "not JSON: Expecting value at character 0"),
        (b"[1]", "expected a JSON object, found an array of 1 value, each of which needs a message of its own"),
        (b'"text"', 'expected a JSON object, found "text"'),
        (b"42", "expected a JSON object, found 42"),
        (b'{"\\ud800": 1}', "the name of a field is not Unicode: '\\ud800'"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
    ],
)
def test_a_poison_message_is_an_error_or_skipped(payload: bytes, reason: str) -> None:
    messages = [b'{"a": 1}', payload, b'{"b": 1}']

    with pytest.raises(MessageError) as failure:
        infer_with(JsonReader("orders"), messages)
    assert str(failure.value) == (
        f"malformed message in topic 'orders', partition 0, offset 1: {reason}. It begins with {payload[:60]!r}. Set "
        f"json.ignore-parse-errors to true to infer the schema without such messages"
    )

    inferred = infer_with(JsonReader("orders", JsonInferenceOptions(ignore_parse_errors=True)), messages)
    assert str(inferred.tables["orders"].schema) == "a BIGINT, b BIGINT"
    assert [(str(each.position), each.reason) for each in inferred.skipped] == [("partition 0, offset 1", reason)]


def test_10000_columns_are_refused_up_to_a_limit_that_can_be_raised() -> None:
    wide = json.dumps({f"c{i}": i for i in range(10_000)})
    with pytest.raises(SchemaError) as failure:
        infer('{"a": 1}', wide)
    assert str(failure.value) == (
        "topic 'orders': table 'orders' has 10001 columns, fields within columns included, at partition 0, offset 1, "
        "more than option 'infer-schema.max-columns' allows (2000): raise it, or read nested objects and names that "
        "are data as STRING or MAP"
    )
    assert len(infer(wide, most=10_000).schema) == 10_000


def test_fields_within_rows_count_as_columns() -> None:
    texts = [json.dumps({"o": {"p": [{f"c{i}": 1}]}}) for i in range(11)]
    with pytest.raises(SchemaError, match="has 11 columns, fields within columns included, at partition 0, offset 10"):
        infer(*texts, nested="struct", most=10)
    assert str(infer(*texts, most=10).schema) == "o STRING"


def test_tables_are_named_by_fields() -> None:
    reader = JsonReader("orders", JsonInferenceOptions(table_fields=("col0", "col1")))
    messages = [b'{"col0":"a","col1":"b","x":1}', b'{"col0":"a","col1":7,"y":1}', b'{"col0":"a","col1":"b","x":"t"}']
    tables = infer_with(reader, messages).tables
    assert {name: str(table.schema) for name, table in tables.items()} == {
        "a.b": "col0 STRING, col1 STRING, x STRING",
        "a.7": "col0 STRING, col1 BIGINT, y BIGINT",
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"col0": "a"}', "field col1, which names the table, is missing"),
        ('{"col0": "a", "col1": null}', "field col1, which names the table, is null"),
        ('{"col0": {}, "col1": "b"}', "field col0, which names the table, is an object"),
        ('{"col0": "", "col1": "b"}', 'field col0, which names the table, is ""'),
    ],
)
def test_a_message_that_does_not_name_its_table_is_malformed(text: str, problem: str) -> None:
    with pytest.raises(MessageError, match=f"offset 0: {problem}"):
        infer(text, table_fields=("col0", "col1"))


def test_the_limit_is_of_each_table() -> None:
    reader = JsonReader("orders", JsonInferenceOptions(table_fields=("t",)))
    messages = [json.dumps({"t": str(i), f"c{i}": 1}).encode() for i in range(5)]
    assert len(infer_with(reader, messages, InferenceOptions(max_columns=2)).tables) == 5
