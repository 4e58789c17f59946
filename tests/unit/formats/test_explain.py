"""`explain_decode`: each format names the path that messages take, and the reason."""

from __future__ import annotations

import sys

import pytest
from pyspark.sql.types import (
    BinaryType,
    DataType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

import millrace
from millrace import KafkaSource
from millrace.errors import SchemaError

SERVERS = {"properties.bootstrap.servers": "h:1", "topic": "t"}
UNION = (
    '{"type": "record", "name": "R", "fields": [{"name": "a", "type": ["null", "string", "double"]}, '
    '{"name": "id", "type": "long"}]}'
)


def columns(**types: DataType) -> StructType:
    return StructType([StructField(name, type_) for name, type_ in types.items()])


def explained(schema: StructType, **options: str) -> str:
    return millrace.explain_decode({**SERVERS, **{name.replace("__", "."): v for name, v in options.items()}}, schema)


@pytest.mark.parametrize(
    "format_",
    ["json", "csv", "avro", "avro-confluent", "debezium-json", "canal-json", "maxwell-json", "ogg-json",
     "debezium-avro-confluent"],
)  # fmt: skip
def test_usual_columns_are_read_from_many_messages_at_once(format_: str) -> None:
    schema = columns(id=LongType(), name=StringType())
    if format_.endswith("-json") or format_.startswith("debezium"):
        schema = StructType([StructField("row_kind", StringType()), *schema])
    url = {f"{format_}.url": "http://127.0.0.1:1"} if format_.endswith("confluent") else {}
    text = explained(schema, format=format_, **url)
    assert text.startswith(f"value: {format_}: many messages at once; one by one those ")
    assert text.endswith(", and malformed ones")


@pytest.mark.parametrize(
    ("schema", "options", "why"),
    [
        (
            columns(id=LongType(), m=MapType(IntegerType(), LongType())),
            {"format": "json"},
            "column m holds a map whose keys are not STRING, or a name with a quote or a control character",
        ),
        (columns(id=LongType()), {"format": "csv", "csv.escape-character": "\\"}, "there is an escape character"),
        (columns(id=LongType()), {"format": "csv", "csv.allow-comments": "true"}, "comments are allowed"),
        (columns(v=StringType()), {"format": "raw", "raw.charset": "GBK"}, "their charset is not UTF-8"),
        (columns(id=LongType()), {"format": "avro", "avro.encoding": "json"}, "the encoding is json"),
        (
            columns(id=LongType(), a=StringType()),
            {"format": "avro", "avro.schema": UNION.replace(', "double"', ', "bytes"')},
            "the schema has a union of several types, a record without fields or within itself, an array of items that "
            "take no bytes, or a fixed whose size is no multiple of 4",
        ),
    ],
)
def test_others_one_after_the_other_and_why(schema: StructType, options: dict[str, str], why: str) -> None:
    assert explained(schema, **options) == f"value: {options['format']}: one message after the other: {why}"


def test_keys_are_explained_too() -> None:
    options = {"value.format": "json", "key.format": "raw", "key.fields": "id", "value.fields-include": "EXCEPT_KEY"}
    key, value = explained(columns(id=LongType(), name=StringType()), **options).splitlines()
    assert key == "key: raw: many messages at once"
    assert value.startswith("value: json: many messages at once")


def test_without_a_format_there_is_nothing_to_decode() -> None:
    text = "value: no format: the columns are made of many messages at once"
    assert explained(columns(value=BinaryType())) == text
    source = KafkaSource.builder().set_bootstrap_servers("h:1").set_topics("t").build()
    assert millrace.explain_decode(source.options, columns(value=BinaryType())) == text


def test_a_format_need_not_say_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    from millrace.contracts import Decoded, Decoder, Payloads
    from millrace_formats.raw import RawFormat

    class Silent(RawFormat):
        def decoder(self, schema: object) -> Decoder:
            class Nothing(Decoder):
                def decode(self, payloads: Payloads) -> Decoded:
                    raise AssertionError("nothing is read")

            return Nothing()

    monkeypatch.setattr(sys.modules[__name__], "Silent", Silent, raising=False)
    monkeypatch.setitem(sys.modules, "silent_format", sys.modules[__name__])
    text = explained(columns(v=BinaryType()), format="silent_format:Silent")
    assert text == "value: silent_format:Silent: the format does not say how it reads messages"


def test_columns_that_cannot_be_read_are_refused() -> None:
    with pytest.raises(SchemaError):
        explained(columns(a=LongType(), b=LongType()), format="raw")
