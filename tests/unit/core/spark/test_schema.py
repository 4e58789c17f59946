from __future__ import annotations

import pyarrow as pa
import pytest
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    CalendarIntervalType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
    VariantType,
    YearMonthIntervalType,
)

from millrace.configuration import SourceConfig
from millrace.configuration.build import configure_source
from millrace.errors import OptionsError, SchemaError
from millrace.source.reader.decoding_plan import record_batch_builder_for
from millrace.spark.schema import (
    arrow_schema,
    check_declared_columns,
    declared_schema,
    default_schema,
    distinct_columns,
)
from millrace_formats.changelog.canal_json import CanalJsonFormat
from millrace_formats.json.format import JsonFormat


def source(**options: str) -> SourceConfig:
    return configure_source({"properties.bootstrap.servers": "h:1", **options})


ERROR_HEADER_PREFIX = StructType([StructField("key", StringType()), StructField("value", BinaryType())])
COLUMNS = {
    "key": BinaryType(),
    "value": BinaryType(),
    "topic": StringType(),
    "partition": IntegerType(),
    "offset": LongType(),
    "timestamp": TimestampType(),
    "timestampType": IntegerType(),
}


def test_without_a_format_the_columns_are_those_of_sparks_own_connector() -> None:
    assert {field.name: field.dataType for field in default_schema(source())} == COLUMNS


def test_headers_are_a_column_when_they_are_asked_for() -> None:
    columns = {field.name: field.dataType for field in default_schema(source(includeHeaders="true"))}
    assert columns == {**COLUMNS, "headers": ArrayType(ERROR_HEADER_PREFIX)}


@pytest.mark.parametrize("headers", ["true", "false"])
def test_the_default_columns_pass_the_check(headers: str) -> None:
    config = source(includeHeaders=headers)
    record_batch_builder_for(config, arrow_schema(default_schema(config)))


def test_a_format_that_has_no_columns_of_its_own_asks_for_them() -> None:
    with pytest.raises(SchemaError) as error:
        default_schema(source(format="csv"))
    assert str(error.value) == (
        "format 'csv' needs to know the columns: give them with .schema('id BIGINT, name STRING, ...')"
    )


def test_a_format_of_changes_asks_for_the_row_kinds_too() -> None:
    with pytest.raises(SchemaError) as error:
        default_schema(source(format="millrace_formats.changelog.ogg_json:OggJsonFormat"))
    assert str(error.value) == (
        "format 'millrace_formats.changelog.ogg_json:OggJsonFormat' needs to know the columns: give them with "
        ".schema('row_kind STRING, id BIGINT, name STRING, ...')"
    )


class KnownChanges(CanalJsonFormat):
    """A format of changes that knows its columns."""

    def default_schema(self) -> pa.Schema | None:
        return pa.schema([("id", pa.int64())])


def test_a_format_of_changes_that_knows_its_columns_gives_the_row_kinds_first() -> None:
    config = source(format=f"{__name__}:KnownChanges", **{"metadata.columns": "value.pk-names AS keys"})
    columns = default_schema(config)
    assert {field.name: field.dataType for field in columns} == {
        "row_kind": StringType(),
        "id": LongType(),
        "keys": ArrayType(StringType()),
    }
    assert columns.names[0] == "row_kind"
    record_batch_builder_for(config, arrow_schema(columns))


class CaseFormat(JsonFormat):
    """A format with columns whose names differ only in case."""

    def default_schema(self) -> pa.Schema | None:
        return pa.schema([("id", pa.int64()), ("r", pa.list_(pa.struct([("x", pa.int64()), ("X", pa.int64())])))])


def test_names_that_differ_only_in_case_are_refused_where_the_user_gave_none() -> None:
    config = source(format=f"{__name__}:CaseFormat")
    with pytest.raises(SchemaError, match=r"the columns 'r.x' and 'r.X' differ only in case, and Spark takes them for"):
        distinct_columns(default_schema(config))
    config = source(format=f"{__name__}:CaseFormat", columns="ID STRING, *")
    with pytest.raises(SchemaError, match="the columns 'ID' and 'id' differ only in case"):
        declared_schema(config)


def test_timestamps_are_in_utc_whatever_the_session_says() -> None:
    assert arrow_schema(StructType([StructField("t", TimestampType())])).field("t").type == pa.timestamp("us", "UTC")


@pytest.mark.parametrize(
    ("type_", "name"),
    [
        (VariantType(), "VARIANT"),
        (ArrayType(StructType([StructField("v", VariantType())])), "ARRAY<STRUCT<V:VARIANT>>"),
        (YearMonthIntervalType(), "INTERVAL YEAR TO MONTH"),
        (CalendarIntervalType(), "INTERVAL"),
    ],
    ids=str,
)
def test_columns_of_types_that_nothing_carries_are_refused_by_name(type_: DataType, name: str) -> None:
    with pytest.raises(SchemaError) as error:
        arrow_schema(StructType([StructField("id", LongType()), StructField("a", type_)]))
    assert str(error.value) == (
        f"column a has the type {name}, which is not supported: read or write it as another type, such as STRING"
    )


def test_columns_that_a_format_cannot_decode_to_are_refused() -> None:
    with pytest.raises(SchemaError):
        record_batch_builder_for(source(format="raw"), pa.schema([("a", pa.int32()), ("b", pa.int32())]))


def test_columns_that_kafka_does_not_have_are_refused() -> None:
    with pytest.raises(SchemaError, match="column 'id': without the option 'format'"):
        record_batch_builder_for(source(), pa.schema([("id", pa.int64())]))


def test_columns_of_keys_that_are_no_part_of_the_value_have_to_be_given() -> None:
    keyed = {"value.format": "raw", "key.format": "raw", "key.fields": "value"}
    assert default_schema(source(**keyed)).names == ["value"]
    with pytest.raises(
        SchemaError, match=r"the columns of the key \(value\) are no part of the value: give all columns"
    ):
        default_schema(source(**keyed, **{"value.fields-include": "EXCEPT_KEY"}))


def test_columns_of_the_value_have_its_prefix() -> None:
    assert default_schema(source(**{"format": "raw", "value.fields-prefix": "v_"})).names == ["v_value"]


def test_declared_columns_need_no_metadata_columns_and_row_kinds() -> None:
    config = source(
        format="canal-json",
        columns="`a,b` MAP<STRING, DECIMAL(10, 2)> COMMENT 'x, y', id BIGINT NOT NULL, offset INT",
        **{"metadata.columns": "offset, partition, value.pk-names AS keys"},
    )
    assert declared_schema(config) == (
        "`row_kind` STRING, `a,b` MAP<STRING, DECIMAL(10, 2)> COMMENT 'x, y', id BIGINT NOT NULL, offset INT, "
        "`partition` INT, `keys` ARRAY<STRING>"
    )


def test_declared_row_kinds_keep_their_place() -> None:
    config = source(format="canal-json", columns="id BIGINT, row_kind STRING")
    assert declared_schema(config) == "id BIGINT, row_kind STRING"


def test_an_asterisk_stands_for_the_other_columns_of_the_format() -> None:
    keyed = {"key.format": "json", "key.fields": "id", "value.fields-include": "EXCEPT_KEY"}
    config = source(format="raw", columns="id INT NOT NULL, *", **keyed, **{"value.fields-prefix": "v_"})
    assert declared_schema(config) == "id INT NOT NULL, `v_value` BINARY"


def test_columns_are_declared_once() -> None:
    config = source(format="json", columns="id BIGINT, *")
    check_declared_columns(config, pa.schema([("id", pa.int64())]))
    with pytest.raises(SchemaError, match="option 'columns' declares column 'id', which the schema lacks"):
        check_declared_columns(config, pa.schema([("name", pa.string())]))


def test_columns_are_declared_for_a_format() -> None:
    with pytest.raises(OptionsError, match=r"option 'columns' requires 'value\.format'"):
        source(columns="id BIGINT")
