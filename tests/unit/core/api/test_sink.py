from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from millrace import DeliveryGuarantee, KafkaRecordSerializationSchema, KafkaSink
from millrace.api.sink import KafkaSinkBuilder
from millrace.errors import OptionsError

Problems = Callable[[Any], tuple[str, ...]]

ORDERS = KafkaRecordSerializationSchema.builder().set_topic("orders").build()


def servers() -> KafkaSinkBuilder:
    return KafkaSink.builder().set_bootstrap_servers("h:9092")


def orders() -> KafkaSinkBuilder:
    return servers().set_record_serializer(ORDERS)


def options(builder: KafkaSinkBuilder) -> dict[str, str]:
    """The options that a builder sets, without servers and topic."""
    usual = {"properties.bootstrap.servers": "h:9092", "topic": "orders"}
    return {name: value for name, value in builder.build().options.items() if usual.get(name) != value}


def test_a_sink_is_the_options_that_it_stands_for() -> None:
    assert dict(orders().build().options) == {"properties.bootstrap.servers": "h:9092", "topic": "orders"}


def test_the_serializers_options_are_the_sinks() -> None:
    schema = KafkaRecordSerializationSchema.builder().set_topic_selector("target")
    schema.set_value_serialization_schema("json").set_partitioner("fixed")
    assert options(servers().set_record_serializer(schema.build())) == {
        "metadata.columns": "topic AS target",
        "format": "json",
        "sink.partitioner": "fixed",
    }


def test_columns_of_the_serializer_and_others_add_up() -> None:
    schema = KafkaRecordSerializationSchema.builder().set_topic_selector("target").build()
    builder = servers().set_record_serializer(schema).set_option("metadata.columns", "__raw_key__ AS k")
    assert options(builder) == {"metadata.columns": "topic AS target, __raw_key__ AS k"}


def test_properties_are_the_clients() -> None:
    builder = orders().set_property("linger.ms", 5).set_kafka_producer_config({"compression.type": "lz4"})
    assert options(builder) == {"properties.linger.ms": "5", "properties.compression.type": "lz4"}


def test_servers_may_stand_in_the_producers_config() -> None:
    builder = KafkaSink.builder().set_kafka_producer_config({"bootstrap.servers": "h:9092"})
    assert options(builder.set_record_serializer(ORDERS)) == {}


@pytest.mark.parametrize(
    ("guarantee", "text"),
    [(DeliveryGuarantee.NONE, "none"), (DeliveryGuarantee.AT_LEAST_ONCE, "at-least-once")],
)
def test_a_delivery_guarantee_is_set(guarantee: DeliveryGuarantee, text: str) -> None:
    assert options(orders().set_delivery_guarantee(guarantee)) == {"sink.delivery-guarantee": text}


def test_exactly_once_has_a_transactional_id_prefix() -> None:
    builder = orders().set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).set_transactional_id_prefix("copy")
    assert options(builder) == {
        "sink.delivery-guarantee": "exactly-once",
        "sink.transactional-id-prefix": "copy",
    }


def test_progress_may_be_tracked_asynchronously_unless_rows_are_written_exactly_once(problems: Problems) -> None:
    tracked = {"asyncProgressTrackingEnabled": "true", "_asyncProgressTrackingOverrideSinkSupportCheck": "true"}

    def asynchronous() -> KafkaSinkBuilder:
        builder = orders()
        for name, value in tracked.items():
            builder.set_option(name, value)
        return builder

    assert options(asynchronous()) == tracked
    builder = asynchronous().set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).set_transactional_id_prefix("copy")
    (problem,) = problems(builder)
    assert "'exactly-once' excludes 'asyncProgressTrackingEnabled'" in problem


def test_exactly_once_needs_a_transactional_id_prefix(problems: Problems) -> None:
    (problem,) = problems(orders().set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE))
    assert problem.startswith("option 'sink.transactional-id-prefix' is required")


def test_a_transactional_id_prefix_needs_exactly_once(problems: Problems) -> None:
    (problem,) = problems(orders().set_transactional_id_prefix("copy"))
    assert problem == "option 'sink.transactional-id-prefix' requires 'sink.delivery-guarantee' = 'exactly-once'"


@pytest.mark.parametrize("name", ["topic", "topic-pattern"])
def test_what_is_written_to_may_be_an_option(name: str) -> None:
    assert options(servers().set_option(name, "a")) == {name: "a"}


def test_what_is_missing_is_told_at_once() -> None:
    with pytest.raises(OptionsError) as error:
        KafkaSink.builder().build()
    assert str(error.value) == (
        "wrong KafkaSink options, 2 problems:\n"
        "  - there is nowhere to write: call set_record_serializer(KafkaRecordSerializationSchema.builder()"
        ".set_topic('orders').build())\n"
        "  - option 'properties.bootstrap.servers' is required, such as 'localhost:9092'"
    )


def test_contradictions_are_told_at_once(problems: Problems) -> None:
    builder = orders().set_option("topic", "other").set_property("bootstrap.servers", "i:9092")
    builder.set_delivery_guarantee(DeliveryGuarantee.NONE).set_option("sink.delivery-guarantee", "at-least-once")
    assert problems(builder) == (
        "option 'topic' is set to 'orders' by set_record_serializer and to 'other' by set_option; set it once",
        "option 'properties.bootstrap.servers' is set to 'h:9092' by set_bootstrap_servers and to 'i:9092' by "
        "set_property; set it once",
        "option 'sink.delivery-guarantee' is set to 'none' by set_delivery_guarantee and to 'at-least-once' by "
        "set_option; set it once",
    )


def test_options_are_checked_as_those_of_the_data_source(problems: Problems) -> None:
    schema = KafkaRecordSerializationSchema.builder().set_topic_selector("my topic").set_partitioner("fixd").build()
    first, second = problems(servers().set_record_serializer(schema).set_property("partitioner.class", "x"))[:2]
    assert first.startswith("option 'properties.partitioner.class' cannot be set: Java classes cannot be used; use the")
    assert second.startswith("option 'metadata.columns': expected metadata columns such as")


def test_a_serializer_that_is_not_built_is_told(problems: Problems) -> None:
    builder = KafkaRecordSerializationSchema.builder().set_topic("orders")
    assert problems(servers().set_record_serializer(builder)) == (
        "set_record_serializer: expected what KafkaRecordSerializationSchema.builder().set_topic('orders').build() "
        "returns; got KafkaRecordSerializationSchemaBuilder(Properties({'topic': 'orders'}))",
    )


def test_no_text_shows_a_secret() -> None:
    builder = orders().set_property("sasl.jaas.config", "PlainLoginModule required username='u' password='hush';")
    builder.set_property("sasl.mechanism", "PLAIN").set_property("security.protocol", "SASL_SSL")
    sink = builder.build()
    assert "hush" in sink.options["properties.sasl.jaas.config"]
    for shown in (repr(builder), repr(sink), str(sink.options)):
        assert "'properties.sasl.jaas.config': '***'" in shown
        assert "hush" not in shown


def test_a_parallelism_is_a_whole_number_and_set_once(problems: Problems) -> None:
    assert orders().set_parallelism(3).build().parallelism == 3
    assert orders().build().parallelism is None
    assert problems(orders().set_parallelism(0)) == ("set_parallelism: expected a whole number above 0; got 0",)
    assert problems(orders().set_parallelism(2).set_parallelism(3)) == ("set_parallelism: it is 2 and 3; call it once",)
