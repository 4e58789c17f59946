"""Names of subjects, by the strategies of Confluent's clients, on its registry in memory."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka.schema_registry.schema_registry_client import (
    AssociationCreateOrUpdateInfo,
    AssociationCreateOrUpdateRequest,
)

from millrace.contracts import Format, SerializationContext
from millrace.errors import OptionsError, RegistryError
from millrace_formats.avro.confluent_format import AvroConfluentFormat
from millrace_formats.avro.registry.options import AvroRegistryOptions
from millrace_formats.json.confluent_format import JsonConfluentFormat
from millrace_formats.json.registry.options import JsonRegistryOptions
from millrace_formats.protobuf.confluent_format import ProtobufConfluentFormat
from millrace_formats.protobuf.registry.options import ProtobufRegistryOptions
from millrace_formats.registry.client import registry_client
from support.names import unique_name
from support.registry_messages import write

ROWS = pa.RecordBatch.from_pylist([{"id": 7}], pa.schema([("id", pa.int64())]))
ORDER = {"type": "record", "name": "Order", "namespace": "shop", "fields": [{"name": "id", "type": "long"}]}
JSON_ORDER = {"title": "JsonOrder", "type": "object", "properties": {"id": {"type": "integer"}}}
PROTO_ORDER = 'syntax = "proto3"; package shop; message Other {} message Order { int64 id = 1; }'


def avro(**options: Any) -> Format:
    return AvroConfluentFormat(AvroRegistryOptions(schema=json.dumps(ORDER), **options))


def json_schema(**options: Any) -> Format:
    return JsonConfluentFormat(JsonRegistryOptions(schema=json.dumps(JSON_ORDER), **options))


def protobuf(**options: Any) -> Format:
    return ProtobufConfluentFormat(ProtobufRegistryOptions(schema=PROTO_ORDER, message_name="shop.Order", **options))


def library_of(format_: Any) -> Any:
    """Return Confluent's own client of the registry in memory that a format asks."""
    return registry_client(format_.name, format_.options).library


@pytest.mark.parametrize(
    ("make", "record"), [(avro, "shop.Order"), (json_schema, "JsonOrder"), (protobuf, "shop.Order")]
)
def test_schemas_are_registered_under_the_subject_of_each_strategy(make: Any, record: str) -> None:
    expected = {
        "topic": "orders-value",
        "record": record,
        "topic-record": f"orders-{record}",
        "associated": "orders-value",
    }
    for strategy, subject in expected.items():
        format_ = make(url=f"mock://{unique_name('registry')}", subject_name_strategy=strategy)
        write(format_, "orders", ROWS)
        assert library_of(format_).get_subjects() == [subject], strategy


def test_a_named_subject_counts_more_than_the_strategy() -> None:
    format_ = avro(url=f"mock://{unique_name('registry')}", subject="mine", subject_name_strategy="topic-record")
    write(format_, "orders", ROWS)
    assert library_of(format_).get_subjects() == ["mine"]


def associate(library: Any, topic: str, *subjects: str) -> None:
    associations = [AssociationCreateOrUpdateInfo(subject=subject, association_type="value") for subject in subjects]
    library.create_association(AssociationCreateOrUpdateRequest(topic, "cluster", f"id-{topic}", "topic", associations))


def test_the_registry_tells_the_subject_of_a_topic_to_writes_and_reads() -> None:
    format_ = AvroConfluentFormat(
        AvroRegistryOptions(url=f"mock://{unique_name('registry')}", subject_name_strategy="associated")
    )
    associate(library_of(format_), "orders", "shop.orders")
    write(format_, "orders", ROWS)
    assert library_of(format_).get_subjects() == ["shop.orders"]
    assert format_.default_schema_for(SerializationContext("orders")) == ROWS.schema

    associate(library_of(format_), "twice", "b", "a")
    with pytest.raises(RegistryError, match=r"several subjects with the values of topic 'twice' \(a, b\): name one by"):
        write(format_, "twice", ROWS)


@pytest.mark.parametrize("strategy", ["record", "topic-record"])
def test_a_read_without_columns_needs_the_record_or_the_subject(strategy: Any) -> None:
    format_ = AvroConfluentFormat(AvroRegistryOptions(url="mock://", subject_name_strategy=strategy))
    with pytest.raises(OptionsError, match=f"is {strategy}, and the record's name is not known: name the subject by"):
        format_.default_schema_for(SerializationContext("orders"))
