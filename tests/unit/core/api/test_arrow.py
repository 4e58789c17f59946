"""Columns, types and mistakes of `read_arrow`, before it asks a broker."""

from __future__ import annotations

import subprocess
import sys

import pyarrow as pa
import pytest
from pyspark.sql.types import LongType, StructType

import millrace
from millrace.errors import OptionsError, SchemaError

JSON = {"properties.bootstrap.servers": "localhost:1", "topic": "orders", "format": "json"}


@pytest.mark.parametrize(
    "schema",
    ["id BIGINT", StructType().add("id", LongType()), pa.schema([("id", pa.int64())])],
    ids=["text", "spark", "arrow"],
)
def test_columns_are_given_as_text_or_as_a_schema(schema: StructType | pa.Schema | str) -> None:
    assert millrace.read_arrow(JSON, schema).schema == pa.schema([("id", pa.int64())])


def test_types_are_those_that_spark_uses() -> None:
    given = pa.schema([("at", pa.timestamp("ms", "Europe/Berlin")), ("name", pa.large_string())])
    expected = pa.schema([("at", pa.timestamp("us", "UTC")), ("name", pa.string())])
    assert millrace.read_arrow(JSON, given).schema == expected


def test_the_option_columns_needs_no_spark_either() -> None:
    options = {**JSON, "columns": "id BIGINT, tags ARRAY<STRING>", "metadata.columns": "offset"}
    assert millrace.read_arrow(options).schema.names == ["id", "tags", "offset"]


def test_true_and_false_are_options_as_in_spark() -> None:
    millrace.read_arrow({**JSON, "ingestion.ignore-errors": True}, "id BIGINT")


@pytest.mark.parametrize(
    ("options", "schema", "problem"),
    [
        ({"topik": "a"}, "id BIGINT", "unknown option 'topik'; did you mean 'topic'?"),
        ({}, "id BIGIMT", "schema: expected a type at character 4, found 'BIGIMT'; did you mean BIGINT?"),
        ({}, pa.schema([("id", pa.uint64())]), "column id has Arrow's type uint64, which Spark does not have"),
        ({}, "v VARIANT", "column v has the type VARIANT, which is not supported"),
        ({"metadata.columns": "offset"}, "id BIGINT", "names column 'offset', which the schema lacks: add offset"),
        ({"columns": "id BIGINT"}, "name STRING", "option 'columns' declares column 'id', which the schema lacks"),
        ({"columns": "id BIGIMT"}, None, "option 'columns': expected a type at character 4"),
        ({}, "id INT, ID INT", "the columns 'id' and 'ID' differ only in case"),
        ({}, "id INT, s STRUCT<a INT, a INT>", "column 's.a' is given twice"),
    ],
)
def test_mistakes_are_told_at_once(options: dict[str, str], schema: pa.Schema | str | None, problem: str) -> None:
    with pytest.raises((OptionsError, SchemaError)) as raised:
        millrace.read_arrow({**JSON, **options}, schema)
    assert problem in str(raised.value)


def test_a_time_zone_that_is_none_is_told() -> None:
    with pytest.raises(OptionsError, match="time_zone: there is no zone 'Mars/Base'; expected one such as"):
        millrace.read_arrow(JSON, "id BIGINT", time_zone="Mars/Base")
    millrace.read_arrow(JSON, "id BIGINT", time_zone="GMT+1")


def test_a_program_that_reads_loads_neither_sparks_client_nor_pandas() -> None:
    program = f"import millrace, sys; millrace.read_arrow({JSON}, 'id BIGINT'); print(sorted(sys.modules))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = run.stdout
    assert "'pyspark.sql.types'" in loaded
    assert not {name for name in ("'pandas'", "'grpc'", "'pyspark.sql.connect.client'") if name in loaded}
