"""Names, defaults and errors of the options."""

from __future__ import annotations

import pytest

from millrace.errors import OptionsError
from millrace.options import options_of
from millrace.options.parser import OptionParser
from millrace_catalog.inference import (
    CanalInferenceOptions,
    DebeziumInferenceOptions,
    EvolutionOptions,
    FormatOptions,
    InferenceOptions,
    JsonInferenceOptions,
)

SHARED = {
    "ignore-parse-errors": False,
    "timestamp-format.standard": "SQL",
    "infer-schema.primitive-as-string": False,
}


def test_names_and_defaults() -> None:
    classes = (
        InferenceOptions, FormatOptions, JsonInferenceOptions, DebeziumInferenceOptions, CanalInferenceOptions,
        EvolutionOptions,
    )  # fmt: skip
    defaults = {cls: {info.name: getattr(cls(), field) for field, info in options_of(cls).items()} for cls in classes}
    assert defaults == {
        InferenceOptions: {"infer-schema.max-columns": 2_000, "infer-schema.parse-key-error.field-name": "col"},
        FormatOptions: SHARED,
        JsonInferenceOptions: {
            **SHARED,
            "ignore-parse-errors.scope": "field",
            "infer-schema.flatten-nested-columns.enable": False,
            "infer-schema.nested": None,
            "infer-schema.fixed-types": (),
            "rescued-data-column": None,
            "decode.parser-table-id.fields": (),
        },
        DebeziumInferenceOptions: {**SHARED, "schema-include": False},
        CanalInferenceOptions: {
            **SHARED,
            "database.include": None,
            "table.include": None,
            "infer-schema.strategy": "AUTO",
            "mysql.treat-mysql-timestamp-as-datetime-enabled": True,
            "mysql.treat-tinyint1-as-boolean.enabled": True,
        },
        EvolutionOptions: {"schema.inference.strategy": "continuous"},
    }


def test_options_are_read_behind_the_formats_name() -> None:
    given = {
        "json.infer-schema.nested": "struct",
        "json.infer-schema.fixed-types": "id BIGINT, name VARCHAR(10), r ROW<a ARRAY<MAP<STRING, INT>>>",
        "json.decode.parser-table-id.fields": "col0, col1",
        "json.timestamp-format.standard": "ISO-8601",
        "json.infer-schema.primitive-as-string": "true",
    }
    parser = OptionParser("catalog", given)
    options = parser.take(JsonInferenceOptions, "json.")
    parser.finish()
    assert options is not None
    assert options.nesting == "struct"
    assert [str(column) for column in options.fixed_types] == [
        "id BIGINT",
        "name VARCHAR(10)",
        "r ROW<a ARRAY<MAP<STRING, INT>>>",
    ]
    assert options.table_fields == ("col0", "col1")
    assert options.iso
    assert options.primitive_as_string


@pytest.mark.parametrize(
    ("flatten", "nested", "nesting"),
    [(False, None, "string"), (True, None, "flatten"), (True, "flatten", "flatten"), (False, "struct", "struct")],
)
def test_what_nested_objects_become(flatten: bool, nested: str | None, nesting: str) -> None:
    assert JsonInferenceOptions(flatten=flatten, nested=nested).nesting == nesting


@pytest.mark.parametrize(
    ("cls", "name", "text", "problem"),
    [
        (JsonInferenceOptions, "infer-schema.nested", "rows", "expected one of string, flatten, struct; got 'rows'"),
        (
            JsonInferenceOptions,
            "infer-schema.fixed-types",
            "id BIGNT",
            "expected a type at character 4, found 'BIGNT'; did you mean BIGINT?; got 'id BIGNT'",
        ),
        (
            JsonInferenceOptions,
            "infer-schema.fixed-types",
            "id NULL",
            "expected column types, of which NULL is none; got 'id NULL'",
        ),
        (
            JsonInferenceOptions,
            "decode.parser-table-id.fields",
            "a,,b",
            "expected names of fields separated by ','; got 'a,,b'",
        ),
        (
            JsonInferenceOptions,
            "decode.parser-table-id.fields",
            "a,a",
            "expected each field once, but a is repeated; got 'a,a'",
        ),
        (
            CanalInferenceOptions,
            "infer-schema.strategy",
            "SQLTYPE",
            "expected one of AUTO, SQL_TYPE, MYSQL_TYPE (did you mean 'SQL_TYPE'?); got 'SQLTYPE'",
        ),
        (
            CanalInferenceOptions,
            "table.include",
            "[",
            "expected a regular expression: unterminated character set at position 1; got '['",
        ),
        (InferenceOptions, "infer-schema.max-columns", "0", "expected greater than 0; got '0'"),
        (EvolutionOptions, "schema.inference.strategy", "dynamic", "expected one of continuous, static; got 'dynamic'"),
    ],
)
def test_a_wrong_value_says_what_was_expected(cls: type, name: str, text: str, problem: str) -> None:
    parser = OptionParser("catalog", {name: text})
    parser.take(cls)
    with pytest.raises(OptionsError) as failure:
        parser.finish()
    assert failure.value.problems == (f"option {name!r}: {problem}",)


def test_flattening_and_another_form_exclude_each_other() -> None:
    parser = OptionParser(
        "catalog",
        {"json.infer-schema.flatten-nested-columns.enable": "true", "json.infer-schema.nested": "struct"},
    )
    parser.take(JsonInferenceOptions, "json.")
    with pytest.raises(OptionsError) as failure:
        parser.finish()
    assert failure.value.problems == (
        "options 'json.*': infer-schema.flatten-nested-columns.enable = true and infer-schema.nested = struct exclude "
        "each other: give one of them",
    )
