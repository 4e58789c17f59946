from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from millrace import KafkaRecordSerializationSchema, KafkaTopicSelector, SimpleStringSchema
from millrace.api.record_serializer import KafkaRecordSerializationSchemaBuilder
from millrace_partitioners.fixed import FixedPartitioner

Problems = Callable[[Any], tuple[str, ...]]


def schema() -> KafkaRecordSerializationSchemaBuilder:
    return KafkaRecordSerializationSchema.builder()


def options(builder: KafkaRecordSerializationSchemaBuilder) -> dict[str, str]:
    return dict(builder.build().options)


def test_a_topic_is_all_that_is_needed() -> None:
    assert options(schema().set_topic("orders")) == {"topic": "orders"}


def test_a_topic_selector_and_a_header_provider_are_columns() -> None:
    assert options(schema().set_topic_selector("target").set_header_provider("notes")) == {
        "metadata.columns": "topic AS target, headers AS notes"
    }


def test_headers_may_be_a_list() -> None:
    assert options(schema().set_topic("orders").set_header_provider("notes", as_list=True)) == {
        "topic": "orders",
        "metadata.columns": "header-list AS notes",
    }


def test_a_value_serialization_schema_is_a_format_with_options() -> None:
    builder = schema().set_topic("orders").set_value_serialization_schema("json", encode_ignore_null_fields=True)
    assert options(builder) == {"topic": "orders", "format": "json", "json.encode.ignore-null-fields": "true"}


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("round-robin", "round-robin"),
        ("millrace_partitioners.fixed:FixedPartitioner", "millrace_partitioners.fixed:FixedPartitioner"),
        (FixedPartitioner, "millrace_partitioners.fixed:FixedPartitioner"),
    ],
)
def test_a_partitioner_is_a_name_or_a_class(given: Any, name: str) -> None:
    assert options(schema().set_topic("orders").set_partitioner(given)) == {
        "topic": "orders",
        "sink.partitioner": name,
    }


def test_a_partitioner_has_options() -> None:
    assert options(schema().set_topic("orders").set_partitioner("by-region", some_separator="/")) == {
        "topic": "orders",
        "sink.partitioner": "by-region",
        "sink.partitioner.some-separator": "/",
    }


def test_what_is_missing_is_told(problems: Problems) -> None:
    assert problems(schema()) == ("there is nowhere to write: call set_topic or set_topic_selector",)


def test_contradictions_are_told_at_once(problems: Problems) -> None:
    builder = schema().set_topic("a").set_topic("b").set_topic_selector("t").set_topic_selector("u")
    builder.set_header_provider("h").set_header_provider("l", as_list=True)
    builder.set_value_serialization_schema("json").set_value_serialization_schema("csv")
    assert problems(builder.set_partitioner("fixed").set_partitioner("default")) == (
        "option 'topic' is set to 'a' by set_topic and to 'b' by set_topic; set it once",
        "set_topic_selector: it is 't' and 'u'; call it once",
        "option 'format' is set to 'json' by set_value_serialization_schema and to 'csv' by "
        "set_value_serialization_schema; set it once",
        "option 'sink.partitioner' is set to 'fixed' by set_partitioner and to 'default' by set_partitioner; set it "
        "once",
        "set_topic and set_topic_selector exclude each other: call one of them",
        "set_header_provider: the headers are a map or a list, not both; call it once",
    )


def test_keys_are_made_by_a_format() -> None:
    builder = schema().set_topic("orders").set_value_serialization_schema("json")
    serializer = builder.set_key_serialization_schema("csv", ["id", "country"], null_literal="-").build()
    assert dict(serializer.options) == {
        "topic": "orders",
        "format": "json",
        "key.format": "csv",
        "key.fields": "id;country",
        "key.csv.null-literal": "-",
    }


def test_a_prefix_of_keys_leaves_them_out_of_the_value() -> None:
    serializer = schema().set_topic("orders").set_key_serialization_schema("json", "k_id", prefix="k_").build()
    assert dict(serializer.options) == {
        "topic": "orders",
        "key.format": "json",
        "key.fields": "k_id",
        "key.fields-prefix": "k_",
        "value.fields-include": "EXCEPT_KEY",
    }


def test_a_function_may_select_topics() -> None:
    assert options(schema().set_topic_selector(str)) == {"metadata.columns": "topic AS __topic__"}


class ByCountry(KafkaTopicSelector):
    def apply(self, data: Any) -> str:
        return f"orders-{data.country}"


def test_a_topic_selector_may_be_a_class() -> None:
    selector = ByCountry()
    assert options(schema().set_topic_selector(selector).set_topic_selector(selector)) == {
        "metadata.columns": "topic AS __topic__"
    }


def test_texts_are_values_and_keys() -> None:
    builder = schema().set_topic("orders").set_value_serialization_schema(SimpleStringSchema())
    assert options(builder) == {"topic": "orders", "format": "raw"}
    builder.set_key_serialization_schema(key_serialization_schema=SimpleStringSchema("GBK"))
    assert options(builder) == {
        "topic": "orders",
        "format": "raw",
        "key.format": "raw",
        "key.fields": "value",
        "key.raw.charset": "GBK",
    }


def test_a_text_leaves_the_columns_of_its_key_out() -> None:
    builder = schema().set_topic("orders").set_value_serialization_schema(SimpleStringSchema())
    assert options(builder.set_key_serialization_schema("json", ["id"])) == {
        "topic": "orders",
        "format": "raw",
        "key.format": "json",
        "key.fields": "id",
        "value.fields-include": "EXCEPT_KEY",
    }


def test_a_key_without_columns_is_refused_beside_values_that_are_no_texts(problems: Problems) -> None:
    builder = schema().set_topic("orders").set_value_serialization_schema("json")
    assert problems(builder.set_key_serialization_schema(SimpleStringSchema())) == (
        "set_key_serialization_schema: name the columns of the key, such as ['id']",
    )


def test_topics_are_selected_by_one_function(problems: Problems) -> None:
    builder = schema().set_topic_selector(str).set_topic_selector(repr)
    assert problems(builder) == ("set_topic_selector: there are two functions; call it once",)


def test_a_serializer_of_whole_rows_writes_to_its_topic_or_to_those_of_its_records() -> None:
    assert dict(KafkaRecordSerializationSchema.of(lambda _: None, topic="orders").options) == {"topic": "orders"}
    assert dict(KafkaRecordSerializationSchema.of(lambda _: None).options) == {}


def test_a_function_is_no_column(problems: Problems) -> None:
    assert problems(schema().set_topic_selector(7).set_header_provider(max)) == (
        "set_topic_selector: expected the name of a column, such as 'topic'; got int. Rows are columns here: make one "
        "by df.withColumn(...)",
        "set_header_provider: expected the name of a column, such as 'headers'; got builtin_function_or_method. Rows "
        "are columns here: make one by df.withColumn(...)",
    )


def test_a_class_that_executors_cannot_import_is_refused(problems: Problems) -> None:
    class Inner(FixedPartitioner):
        pass

    typed = type("Typed", (FixedPartitioner,), {"__module__": "__main__"})
    reported = problems(schema().set_topic("orders").set_partitioner(Inner).set_partitioner(typed))
    assert reported == (
        f"set_partitioner: executors cannot import {Inner.__module__}.{Inner.__qualname__}; define the class at the "
        f"top level of a module that is installed where they run",
        "set_partitioner: executors cannot import __main__.Typed; define the class at the top level of a module that "
        "is installed where they run",
    )


def test_a_builder_shows_its_options() -> None:
    assert repr(schema().set_topic("orders").set_header_provider("h")) == (
        "KafkaRecordSerializationSchemaBuilder(Properties({'topic': 'orders', 'metadata.columns': 'headers AS h'}))"
    )
