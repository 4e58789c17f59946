from __future__ import annotations

import pyarrow as pa
import pytest

from millrace.configuration import SourceConfig
from millrace.configuration.build import configure_source
from millrace.errors import OptionsError, SchemaError
from millrace.records.key_value_projection import KeyValueProjection, divide_columns

USER = pa.schema([("user_id", pa.int64()), ("item_id", pa.int64()), ("behavior", pa.string())])
VERSIONS = pa.schema([("k_version", pa.int32()), ("version", pa.int32()), ("k_id", pa.int64())])
EXCEPT_KEY = {"value.fields-include": "EXCEPT_KEY"}


def source(**options: str) -> SourceConfig:
    return configure_source({"properties.bootstrap.servers": "h:1", **options})


def keyed(fields: str, **options: str) -> SourceConfig:
    return source(**{"value.format": "json", "key.format": "json", "key.fields": fields, **options})


def problems(**options: str) -> tuple[str, ...]:
    with pytest.raises(OptionsError) as error:
        source(**options)
    return error.value.problems


def parts(schema: pa.Schema, config: SourceConfig) -> KeyValueProjection:
    return divide_columns(schema, config.options)


def refused(schema: pa.Schema, config: SourceConfig) -> str:
    with pytest.raises(SchemaError) as error:
        divide_columns(schema, config.options)
    return str(error.value)


def test_without_a_format_of_keys_all_columns_are_the_values() -> None:
    key, value = parts(USER, source(format="json"))
    assert key is None
    assert (value.columns, value.schema) == (tuple(USER.names), USER)


def test_by_default_the_columns_of_the_key_are_part_of_the_value_too() -> None:
    key, value = parts(USER, keyed("item_id;user_id"))
    assert key is not None
    assert (key.columns, key.schema.names) == (("item_id", "user_id"), ["item_id", "user_id"])
    assert value.schema == USER


def test_the_columns_of_the_key_may_be_left_out_of_the_value() -> None:
    _, value = parts(USER, keyed("item_id;user_id", **EXCEPT_KEY))
    assert value.schema == pa.schema([("behavior", pa.string())])


def test_the_key_does_not_have_its_prefix() -> None:
    key, value = parts(VERSIONS, keyed("k_version;k_id", **{"key.fields-prefix": "k_"}, **EXCEPT_KEY))
    assert key is not None
    assert (key.columns, key.schema) == (
        ("k_version", "k_id"),
        pa.schema([("version", pa.int32()), ("id", pa.int64())]),
    )
    assert value.schema == pa.schema([("version", pa.int32())])


def test_the_value_does_not_have_its_prefix() -> None:
    schema = pa.schema([("key_id", pa.int32()), ("val_name", pa.string())])
    prefixes = {"key.fields-prefix": "key_", "value.fields-prefix": "val_"}
    key, value = parts(schema, keyed("key_id", **prefixes, **EXCEPT_KEY))
    assert key is not None
    assert (key.schema.names, value.columns, value.schema.names) == (["id"], ("val_name",), ["name"])
    _, value = parts(schema.remove(0), source(**{"format": "json", "value.fields-prefix": "val_"}))
    assert value.schema.names == ["name"]


def test_rows_get_the_names_that_the_format_knows() -> None:
    key, _ = parts(VERSIONS, keyed("k_version", **{"key.fields-prefix": "k_"}, **EXCEPT_KEY))
    assert key is not None
    rows = pa.RecordBatch.from_pylist([{"k_version": 1, "version": 2, "k_id": 3}], schema=VERSIONS)
    assert key.project(rows).to_pylist() == [{"version": 1}]


def test_a_key_field_that_is_no_column_is_told() -> None:
    assert refused(USER, keyed("user_di")) == (
        "option 'key.fields' names 'user_di', which is not a column for formats; did you mean 'user_id'?"
    )
    assert refused(USER, keyed("zzz")).endswith("not a column for formats; there are user_id, item_id, behavior")


def test_a_column_of_the_value_without_its_prefix_is_told() -> None:
    assert refused(USER, source(**{"format": "json", "value.fields-prefix": "v_"})) == (
        "column 'user_id' does not begin with 'v_', as option 'value.fields-prefix' says, and is not in option "
        "'key.fields'"
    )


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"format": "json", "key.fields": "id"}, "option 'key.fields' requires 'key.format'"),
        (
            {"format": "json", "key.fields-prefix": "k_"},
            "option 'key.fields-prefix' requires 'key.format'",
        ),
        (
            {"format": "json", **EXCEPT_KEY},
            "option 'value.fields-include' requires 'key.format'",
        ),
        (
            {"format": "json", "key.format": "json"},
            "option 'key.format' requires 'key.fields', the columns of the key, such as 'id;country'",
        ),
        (
            {"key.format": "json", "key.fields": "id"},
            "option 'key.format' requires 'value.format'",
        ),
        (
            {"value.fields-prefix": "v_"},
            "option 'value.fields-prefix' requires 'value.format'",
        ),
        (
            {"format": "json", "key.format": "json", "key.fields": "k_id", "key.fields-prefix": "k_"},
            "option 'key.fields-prefix' requires 'value.fields-include' = 'EXCEPT_KEY'; with ALL the columns of the "
            "key are columns of the value as well, under one name",
        ),
        (
            {"format": "json", "key.format": "json", "key.fields": "id", "value.fields-prefix": "v_"},
            "option 'value.fields-prefix' requires 'value.fields-include' = 'EXCEPT_KEY'; with ALL the columns of "
            "the key are columns of the value as well, under one name",
        ),
        (
            {"format": "json", "key.format": "json", "key.fields": "id", "key.fields-prefix": "k_", **EXCEPT_KEY},
            "option 'key.fields': 'id' does not begin with 'k_' ('key.fields-prefix')",
        ),
        (
            {"format": "json", "key.format": "json", "key.fields": "k_", "key.fields-prefix": "k_", **EXCEPT_KEY},
            "option 'key.fields': 'k_' does not begin with 'k_' ('key.fields-prefix')",
        ),
        (
            {"format": "json", "key.format": "json", "key.fields": "k", "metadata.columns": "timestamp AS k"},
            "option 'key.fields': 'k' is a metadata column ('metadata.columns'), not a column of the key",
        ),
        (
            {"format": "json", "key.format": "debezium-json", "key.fields": "id"},
            "option 'key.format': 'debezium-json' is a changelog format, which keys cannot have, since a key does not "
            "change: use 'json'",
        ),
        (
            {"format": "json", "key.format": "json", "key.fields": "k_id", "key.fields-prefix": "k_"}
            | {"value.fields-prefix": "k_v_", **EXCEPT_KEY},
            "options 'key.fields-prefix' and 'value.fields-prefix': 'k_' and 'k_v_' cannot be told apart, since one "
            "begins with the other",
        ),
    ],
)
def test_options_that_do_not_fit(options: dict[str, str], problem: str) -> None:
    assert problems(**options) == (problem,)


def test_an_unknown_format_of_keys_is_told_once() -> None:
    (problem,) = problems(**{"format": "json", "key.format": "jsn", "key.fields": "id", "key.jsn.x": "1"})
    assert problem.startswith("option 'key.format': unknown format 'jsn'")


def test_each_side_has_options_of_its_own() -> None:
    options = {"key.json.ignore-parse-errors": "true", "json.fail-on-missing-field": "true"}
    config = keyed("id", **options)
    assert config.key_format is not None
    assert config.value_format is not None
    key, value = config.key_format.options, config.value_format.options
    assert (key.ignore_parse_errors, key.fail_on_missing_field) == (True, False)
    assert (value.ignore_parse_errors, value.fail_on_missing_field) == (False, True)


def test_options_without_a_side_are_the_values() -> None:
    (problem,) = problems(
        **{"value.format": "json", "key.format": "csv", "key.fields": "id", "csv.null-literal": "NULL"}
    )
    assert problem == "unknown option 'csv.null-literal'; did you mean 'key.csv.null-literal'?"
