"""Options and schemas of the formats of changes, and which are refused."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from millrace.errors import OptionsError, SchemaError
from millrace.options import options_of
from millrace.options.parser import OptionParser
from millrace_formats.changelog.canal_json import CanalJsonFormat, CanalOptions
from millrace_formats.changelog.debezium_json import DebeziumJsonFormat, DebeziumOptions
from millrace_formats.changelog.format import ChangelogJsonFormat
from millrace_formats.changelog.maxwell_json import MaxwellJsonFormat
from millrace_formats.changelog.ogg_json import OggJsonFormat
from millrace_formats.changelog.options import ChangeOptions
from millrace_formats.json import JsonOptions

FORMATS = [DebeziumJsonFormat(), CanalJsonFormat(), MaxwellJsonFormat(), OggJsonFormat()]
SHARED = {
    "ignore-parse-errors": False,
    "ignore-parse-errors.scope": "field",
    "timestamp-format.standard": "SQL",
    "map-null-key.mode": "FAIL",
    "map-null-key.literal": "null",
    "encode.decimal-as-plain-number": False,
    "encode.ignore-null-fields": False,
}


def test_names_and_defaults_are_those_of_the_reference() -> None:
    defaults = {
        options: {info.name: getattr(options(), field) for field, info in options_of(options).items()}
        for options in (ChangeOptions, DebeziumOptions, CanalOptions)
    }
    shared = {**SHARED, "updates-without-old-row": "fail"}
    assert defaults == {
        ChangeOptions: shared,
        DebeziumOptions: {**shared, "schema-include": False},
        CanalOptions: {**shared, "database.include": None, "table.include": None},
    }


def test_what_is_shared_with_json_means_the_same() -> None:
    given: dict[str, Any] = {
        "ignore_parse_errors": True,
        "ignored_scope": "row",
        "timestamp_format": "ISO-8601",
        "decimal_as_plain_number": True,
        "ignore_null_fields": True,
    }
    assert CanalOptions(**given, table_include="a").json == JsonOptions(**given)
    assert ChangeOptions().json == JsonOptions()


@pytest.mark.parametrize(
    ("cls", "given", "problem"),
    [
        (
            CanalOptions,
            {"table.include": "a("},
            "option 'table.include': expected a regular expression: missing ) at position 2; got 'a('",
        ),
        (
            ChangeOptions,
            {"timestamp-format.standard": "ISO"},
            "option 'timestamp-format.standard': expected one of SQL, ISO-8601; got 'ISO'",
        ),
        (DebeziumOptions, {"schema-include": "some"}, "option 'schema-include': expected true or false; got 'some'"),
        (ChangeOptions, {"fail-on-missing-field": "true"}, "unknown option 'fail-on-missing-field'"),
    ],
)
def test_wrong_options_are_errors(cls: type, given: dict[str, str], problem: str) -> None:
    parser = OptionParser("format", given)
    parser.take(cls)
    with pytest.raises(OptionsError) as error:
        parser.finish()
    assert error.value.problems == (problem,)


@pytest.mark.parametrize("made", FORMATS, ids=lambda made: made.name)
def test_types_that_json_cannot_carry_are_refused(made: ChangelogJsonFormat) -> None:
    schema = pa.schema([("id", pa.int32()), ("wait", pa.duration("us"))])
    for make in (made.decoder, made.encoder):
        with pytest.raises(SchemaError) as error:
            make(schema)
        assert str(error.value) == (
            f"format {made.name} does not support this schema: column wait has the type INTERVAL (duration[us]), which "
            f"is not supported"
        )


@pytest.mark.parametrize("made", FORMATS, ids=lambda made: made.name)
def test_metadata_keys_and_types_are_those_of_the_reference(made: ChangelogJsonFormat) -> None:
    time, texts = pa.timestamp("us", "UTC"), pa.list_(pa.string())
    expected = {
        "debezium-json": {
            "schema": pa.string(),
            "ingestion-timestamp": time,
            "source.timestamp": time,
            "source.database": pa.string(),
            "source.schema": pa.string(),
            "source.table": pa.string(),
            "source.properties": pa.map_(pa.string(), pa.string()),
        },
        "canal-json": {
            "database": pa.string(),
            "table": pa.string(),
            "sql-type": pa.map_(pa.string(), pa.int32()),
            "pk-names": texts,
            "ingestion-timestamp": time,
            "event-timestamp": time,
        },
        "maxwell-json": {
            "database": pa.string(),
            "table": pa.string(),
            "primary-key-columns": texts,
            "ingestion-timestamp": time,
        },
        "ogg-json": {
            "table": pa.string(),
            "primary-keys": texts,
            "ingestion-timestamp": time,
            "event-timestamp": time,
        },
    }
    assert made.metadata() == expected[made.name]
