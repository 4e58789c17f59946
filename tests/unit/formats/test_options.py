"""Options and schemas that the formats refuse, and in which words."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from millrace.contracts import Format
from millrace.errors import SchemaError
from millrace.options import options_of
from millrace_formats.changelog.options import ChangeOptions
from millrace_formats.csv import CsvFormat, CsvOptions
from millrace_formats.json import JsonFormat, JsonOptions
from millrace_formats.json.options import report_map_null_key
from millrace_formats.raw import RawFormat, RawOptions


def test_names_and_defaults_are_those_of_the_reference() -> None:
    defaults = {
        options: {info.name: getattr(options(), field) for field, info in options_of(options).items()}
        for options in (RawOptions, JsonOptions, CsvOptions)
    }
    assert defaults == {
        RawOptions: {"charset": "UTF-8", "endianness": "big-endian"},
        JsonOptions: {
            "fail-on-missing-field": False,
            "ignore-parse-errors": False,
            "ignore-parse-errors.scope": "field",
            "timestamp-format.standard": "SQL",
            "map-null-key.mode": "FAIL",
            "map-null-key.literal": "null",
            "encode.decimal-as-plain-number": False,
            "encode.ignore-null-fields": False,
            "infer-schema.flatten-nested-columns.enable": False,
            "infer-schema.nested": None,
            "rescued-data-column": None,
            "decode.parser-table-id.fields": (),
            "table.include": None,
        },
        CsvOptions: {
            "field-delimiter": ",",
            "disable-quote-character": False,
            "quote-character": '"',
            "allow-comments": False,
            "ignore-parse-errors": False,
            "array-element-delimiter": ";",
            "escape-character": None,
            "null-literal": None,
            "write-bigdecimal-in-scientific-notation": True,
        },
    }


@pytest.mark.parametrize(
    ("options", "values", "message"),
    [
        (JsonOptions, {"fail_on_missing_field": True, "ignore_parse_errors": True}, "exclude each other"),
        (JsonOptions, {"ignored_scope": "row"}, "scope = row requires ignore-parse-errors = true"),
        (ChangeOptions, {"ignored_scope": "row"}, "scope = row requires ignore-parse-errors = true"),
        (CsvOptions, {"field_delimiter": "ab"}, "field-delimiter is 'ab': expected a single character"),
        (CsvOptions, {"field_delimiter": ""}, "field-delimiter is '': expected a single character"),
        (CsvOptions, {"field_delimiter": "\\n"}, "already has a meaning"),
        (CsvOptions, {"quote_character": ","}, "quote-character is ',', which already has a meaning"),
        (CsvOptions, {"escape_character": '"'}, "escape-character is '\"', which already has a meaning"),
        (CsvOptions, {"quote_character": "'", "disable_quote_character": True}, "exclude each other"),
        (CsvOptions, {"array_element_delimiter": ""}, "array-element-delimiter is empty"),
        (RawOptions, {"charset": "UTF-9"}, "charset 'UTF-9' is not known"),
        (RawOptions, {"charset": "base64"}, "charset 'base64' is not known"),
        (RawOptions, {"charset": "idna"}, "charset 'idna' is not known"),
    ],
)
def test_refused_options(options: type, values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        options(**values)


@pytest.mark.parametrize("options", [JsonOptions, ChangeOptions])
def test_options_of_null_keys_are_accepted_with_a_warning(options: type, caplog: pytest.LogCaptureFixture) -> None:
    report_map_null_key.cache_clear()
    for _ in range(2):
        options(map_null_key_mode="LITERAL", map_null_key_literal="x")
        options()

    message = "map-null-key.mode = LITERAL and map-null-key.literal: no effect, since maps in Spark have no NULL keys"
    assert caplog.text.count(message) == 1
    assert len(caplog.records) == 1


INTERVALS = [pa.duration("us"), pa.month_day_nano_interval()]
OTHERS = [pa.timestamp("ns"), pa.large_string(), pa.uint8(), pa.decimal256(40, 2), pa.null(), pa.date64()]


@pytest.mark.parametrize("format_", [JsonFormat(), CsvFormat()], ids=["json", "csv"])
@pytest.mark.parametrize("type_", INTERVALS + OTHERS, ids=str)
def test_refused_types_are_named_with_their_column(format_: Format, type_: pa.DataType) -> None:
    name = f"INTERVAL ({type_})" if type_ in INTERVALS else str(type_)
    for make in (format_.decoder, format_.encoder):
        with pytest.raises(SchemaError) as caught:
            make(pa.schema([("fine", pa.int32()), ("amount", type_)]))
        assert "column amount has the type" in str(caught.value)
        assert name in str(caught.value)
        assert "fine" not in str(caught.value)


def test_all_refused_columns_are_named_at_once_with_their_path() -> None:
    schema = pa.schema(
        [
            ("a", pa.struct([("b", pa.list_(pa.duration("us")))])),
            ("m", pa.map_(pa.list_(pa.int32()), pa.int32())),
            ("twice", pa.int32()),
            ("twice", pa.int32()),
            ("s", pa.struct([("x", pa.int32()), ("x", pa.int32())])),
        ]
    )
    with pytest.raises(SchemaError) as caught:
        JsonFormat().decoder(schema)
    for part in (
        "column a.b.element has the type INTERVAL (duration[us])",
        "column m is MAP<ARRAY<INT>, INT>, whose keys are not scalars",
        "column s has two fields named 'x'",
        "two columns are named 'twice'",
    ):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    "type_",
    [
        pa.map_(pa.string(), pa.int32()),
        pa.list_(pa.list_(pa.int32())),
        pa.struct([]),
        pa.list_(pa.struct([("x", pa.int8())])),
    ],
)
def test_csv_has_one_level_of_nesting(type_: pa.DataType) -> None:
    with pytest.raises(SchemaError, match="supported are scalars, and arrays and structs of scalars"):
        CsvFormat().decoder(pa.schema([("a", type_)]))


def test_raw_has_one_column() -> None:
    with pytest.raises(SchemaError, match=r"^format raw needs exactly one column, not 2 \(a, b\)$"):
        RawFormat().decoder(pa.schema([("a", pa.int32()), ("b", pa.int32())]))
    with pytest.raises(SchemaError, match=r"^format raw needs exactly one column, not 0 \(none\)$"):
        RawFormat().encoder(pa.schema([]))
    with pytest.raises(SchemaError, match=r"^format raw does not support column a of type DATE: it supports STRING, "):
        RawFormat().encoder(pa.schema([("a", pa.date32())]))


@pytest.mark.parametrize("format_", [JsonFormat(), CsvFormat()], ids=["json", "csv"])
def test_a_schema_without_columns_is_refused(format_: Format) -> None:
    with pytest.raises(SchemaError, match="needs at least one column"):
        format_.decoder(pa.schema([]))
