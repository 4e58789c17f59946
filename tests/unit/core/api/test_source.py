from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from millrace import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaSource,
    KafkaTopicPartition,
    SimpleStringSchema,
)
from millrace.api.source import KafkaSourceBuilder
from millrace.configuration.build import configure_source
from millrace.errors import OptionsError

Problems = Callable[[Any], tuple[str, ...]]

EARLIEST = {"scan.startup.mode": "earliest-offset"}
NO_DISCOVERY = {"scan.topic-partition-discovery.interval": "0"}


def servers() -> KafkaSourceBuilder:
    return KafkaSource.builder().set_bootstrap_servers("h:9092")


def orders() -> KafkaSourceBuilder:
    return servers().set_topics("orders")


def options(builder: KafkaSourceBuilder) -> dict[str, str]:
    """The options that a builder sets, without servers, topic and the usual start."""
    usual = {"properties.bootstrap.servers": "h:9092", "topic": "orders", **EARLIEST, **NO_DISCOVERY}
    built = dict(builder.build().options)
    return {name: value for name, value in built.items() if usual.get(name) != value}


def test_a_source_is_the_options_that_it_stands_for() -> None:
    assert dict(orders().build().options) == {
        "properties.bootstrap.servers": "h:9092",
        "topic": "orders",
        **EARLIEST,
        **NO_DISCOVERY,
    }


def test_a_source_is_a_stream_unless_it_is_bounded() -> None:
    assert not orders().build().is_bounded
    assert not orders().set_unbounded(KafkaOffsetsInitializer.latest()).build().is_bounded
    assert orders().set_bounded(KafkaOffsetsInitializer.latest()).build().is_bounded


def test_options_go_to_a_data_source_as_keywords() -> None:
    given = dict(**orders().build().options)
    assert configure_source(given).options.topics == ("orders",)


@pytest.mark.parametrize("topics", [("a", "b"), (["a", "b"],), (("a", "b"),), (iter(["a", "b"]),)])
def test_topics_come_one_by_one_or_as_a_list(topics: Iterable[Any]) -> None:
    assert options(servers().set_topics(*topics)) == {"topic": "a;b"}


def test_a_topic_pattern_is_set() -> None:
    assert options(servers().set_topic_pattern("orders-.*")) == {"topic-pattern": "orders-.*"}


def test_partitions_are_gathered_by_topic() -> None:
    partitions = {KafkaTopicPartition("b", 5), ("a", 10), ("a", 2)}
    assert options(servers().set_partitions(partitions)) == {"topic-partitions": "a:2,10;b:5"}


def test_group_and_client_id_prefix_are_set() -> None:
    assert options(orders().set_group_id("g").set_client_id_prefix("p")) == {
        "properties.group.id": "g",
        "client.id.prefix": "p",
    }


def test_properties_are_the_clients() -> None:
    builder = orders().set_property("partition.discovery.interval.ms", 10_000)
    assert options(builder.set_properties({"check.crcs": True, "ssl.ca.location": Path("ca.pem")})) == {
        "properties.partition.discovery.interval.ms": "10000",
        "properties.check.crcs": "true",
        "properties.ssl.ca.location": "ca.pem",
    }


@pytest.mark.parametrize(
    ("set_interval", "name"),
    [
        (lambda builder, name: builder.set_option(name, "1 min"), "scan.topic-partition-discovery.interval"),
        (lambda builder, name: builder.set_option(name, "1 min"), "partition.discovery.interval.ms"),
        (lambda builder, _: builder.set_property("partition.discovery.interval.ms", "1 min"), None),
    ],
)
def test_new_partitions_are_looked_for_when_it_is_said_how_often(
    set_interval: Callable[[KafkaSourceBuilder, Any], KafkaSourceBuilder], name: str | None
) -> None:
    assert options(set_interval(orders(), name)) == {name or "properties.partition.discovery.interval.ms": "1 min"}
    built = set_interval(orders(), name).build()
    assert configure_source(built.options).options.discovery_interval_ms == 60_000


def test_a_batch_does_not_say_how_often_to_look_for_new_partitions() -> None:
    built = orders().set_bounded(KafkaOffsetsInitializer.latest()).build()
    assert NO_DISCOVERY.keys().isdisjoint(built.options)


def test_a_simple_string_schema_is_a_column_of_texts() -> None:
    texts = {"format": "raw", "columns": "value STRING"}
    assert options(orders().set_value_only_deserializer(SimpleStringSchema())) == texts
    assert options(orders().set_value_only_deserializer(deserialization_schema=SimpleStringSchema("GBK"))) == {
        **texts,
        "raw.charset": "GBK",
    }
    assert options(orders().set_deserializer(SimpleStringSchema())) == texts


def test_any_option_can_be_set() -> None:
    assert options(orders().set_option("scan.parallelism", 4)) == {"scan.parallelism": "4"}


def test_metadata_columns_add_up() -> None:
    builder = orders().set_option("metadata.columns", "offset").set_option("metadata.columns", "partition AS p")
    assert options(builder) == {"metadata.columns": "offset, partition AS p"}


def test_a_deserializer_is_a_format_with_options_as_keywords() -> None:
    builder = orders().set_deserializer("json", ignore_parse_errors=True, timestamp_format_standard="ISO-8601")
    assert options(builder) == {
        "format": "json",
        "json.ignore-parse-errors": "true",
        "json.timestamp-format.standard": "ISO-8601",
    }


def test_a_value_only_deserializer_is_a_format_with_options_by_their_names() -> None:
    builder = orders().set_value_only_deserializer("json", {"ignore-parse-errors": "true"})
    assert options(builder) == {"format": "json", "json.ignore-parse-errors": "true"}
    assert options(orders().set_value_only_deserializer("raw")) == {"format": "raw"}


def test_starting_offsets_are_set() -> None:
    builder = orders().set_group_id("g")
    builder.set_starting_offsets(KafkaOffsetsInitializer.committed_offsets(KafkaOffsetResetStrategy.LATEST))
    assert options(builder) == {
        "properties.group.id": "g",
        "scan.startup.mode": "group-offsets",
        "properties.auto.offset.reset": "latest",
    }


@pytest.mark.parametrize("name", ["scan.startup.mode", "SCAN.Startup.Mode", "startingOffsets"])
def test_an_option_for_the_start_takes_the_place_of_the_usual_one(name: str) -> None:
    value = "latest" if name == "startingOffsets" else "latest-offset"
    assert options(orders().set_option(name, value)) == {name: value}


@pytest.mark.parametrize("method", ["set_bounded", "set_unbounded"])
def test_stopping_offsets_are_set(method: str) -> None:
    builder = getattr(orders(), method)(KafkaOffsetsInitializer.timestamp(7))
    assert options(builder) == {"scan.bounded.mode": "timestamp", "scan.bounded.timestamp-millis": "7"}


def test_what_is_missing_is_told_at_once() -> None:
    with pytest.raises(OptionsError) as error:
        KafkaSource.builder().set_starting_offsets(KafkaOffsetsInitializer.committed_offsets()).build()
    assert str(error.value) == (
        "wrong KafkaSource options, 3 problems:\n"
        "  - there is nothing to read: call set_topics, set_topic_pattern or set_partitions\n"
        "  - there is no group whose committed offsets could be used: call set_group_id\n"
        "  - option 'properties.bootstrap.servers' is required, such as 'localhost:9092'"
    )


def test_committed_offsets_to_stop_at_need_a_group_too(problems: Problems) -> None:
    assert problems(orders().set_bounded(KafkaOffsetsInitializer.committed_offsets())) == (
        "there is no group whose committed offsets could be used: call set_group_id",
    )


@pytest.mark.parametrize("name", ["subscribe", "subscribePattern", "topic", "TOPIC-pattern"])
def test_what_is_read_may_be_an_option(name: str) -> None:
    assert options(servers().set_option(name, "a")) == {name: "a"}


def test_a_builder_that_lacked_something_can_go_on(problems: Problems) -> None:
    builder = servers()
    assert len(problems(builder)) == 1
    assert options(builder.set_topics("orders")) == {}


def test_contradictions_are_told_at_once(problems: Problems) -> None:
    builder = orders().set_topic_pattern("a.*").set_group_id("g").set_property("group.id", "other")
    builder.set_bounded(KafkaOffsetsInitializer.latest()).set_unbounded(KafkaOffsetsInitializer.timestamp(1))
    builder.set_starting_offsets(KafkaOffsetsInitializer.earliest()).set_option("Scan.Startup.Mode", "latest-offset")
    assert problems(builder.set_deserializer("json").set_value_only_deserializer("raw")) == (
        "option 'properties.group.id' is set to 'g' by set_group_id and to 'other' by set_property; set it once",
        "set_bounded and set_unbounded exclude each other: the first makes a batch, the second a stream that stops",
        "option 'scan.startup.mode' is set to 'earliest-offset' by set_starting_offsets and to 'latest-offset' by "
        "set_option; set it once",
        "option 'format' is set to 'json' by set_deserializer and to 'raw' by set_value_only_deserializer; set it once",
        "options 'topic' and 'topic-pattern' exclude each other: give one of them",
    )


def test_the_same_may_be_said_twice() -> None:
    assert options(orders().set_topics("orders").set_option("topic", "orders")) == {}


def test_options_are_checked_as_those_of_the_data_source(problems: Problems) -> None:
    builder = servers().set_topics().set_deserializer("json", ignore_parse_error=True)
    builder.set_starting_offsets(KafkaOffsetsInitializer("by-tide")).set_property("interceptor.classes", "x")
    builder.set_option("scan.paralelism", 2)
    given = {
        "properties.bootstrap.servers": "h:9092",
        "topic": "",
        "format": "json",
        "json.ignore-parse-error": "true",
        "scan.startup.mode": "by-tide",
        "properties.interceptor.classes": "x",
        "scan.paralelism": "2",
    }
    with pytest.raises(OptionsError) as error:
        configure_source(given)
    assert problems(builder) == error.value.problems
    assert len(error.value.problems) == 5


def test_an_unknown_format_is_one_problem(problems: Problems) -> None:
    (problem,) = problems(orders().set_deserializer("jsn", ignore_parse_errors=True))
    assert problem.startswith("option 'value.format': unknown format 'jsn'; installed: ")


def test_what_is_no_partition_is_told(problems: Problems) -> None:
    assert problems(orders().set_partitions({"orders"})) == (
        "set_partitions: expected partitions as (topic, number), such as ('orders', 0); got 'orders'",
    )


@pytest.mark.parametrize("method", ["set_starting_offsets", "set_bounded", "set_unbounded"])
def test_what_is_no_offsets_initializer_is_told(problems: Problems, method: str) -> None:
    assert problems(getattr(orders(), method)("latest")) == (
        f"{method}: expected a KafkaOffsetsInitializer, such as KafkaOffsetsInitializer.latest(); got 'latest'",
    )


@pytest.mark.parametrize("method", ["set_bounded", "set_unbounded"])
def test_a_reset_strategy_for_the_end_is_told(problems: Problems, method: str) -> None:
    offsets = KafkaOffsetsInitializer.offsets({("orders", 0): 1}, KafkaOffsetResetStrategy.EARLIEST)
    assert problems(getattr(orders(), method)(offsets)) == (
        f"{method}: the reset strategy earliest says where to start, not where to stop; leave it out, and give it to "
        f"set_starting_offsets",
    )


def test_what_is_no_value_is_told_without_showing_it(problems: Problems) -> None:
    builder = orders().set_property("sasl.password", b"hush").set_value_only_deserializer(object())
    assert problems(builder) == (
        "set_property: option 'properties.sasl.password': expected a text, a number, True or False; got bytes",
        "set_value_only_deserializer: option 'format': expected a text, a number, True or False; got object",
    )


def test_no_text_shows_a_secret(problems: Problems) -> None:
    builder = orders().set_property("sasl.password", "hush")
    source = builder.build()
    assert source.options["properties.sasl.password"] == "hush"
    assert repr(builder) == (
        "KafkaSourceBuilder(Properties({'properties.bootstrap.servers': 'h:9092', 'topic': 'orders', "
        "'properties.sasl.password': '***'}))"
    )
    assert repr(source) == (
        "KafkaSource(options=Properties({'properties.bootstrap.servers': 'h:9092', 'topic': 'orders', "
        "'properties.sasl.password': '***', 'scan.startup.mode': 'earliest-offset', "
        "'scan.topic-partition-discovery.interval': '0'}), is_bounded=False)"
    )
    assert problems(builder.set_option("properties.sasl.password", "hush hush")) == (
        "option 'properties.sasl.password' is set to a value that is not shown by set_property and to a value that is "
        "not shown by set_option; set it once",
    )


@pytest.mark.parametrize(("bounded", "kind"), [(False, "stream"), (True, "batch")])
def test_a_notebook_shows_its_options_without_secrets(bounded: bool, kind: str) -> None:
    builder = orders().set_property("sasl.password", "hush<")
    if bounded:
        builder = builder.set_bounded(KafkaOffsetsInitializer.latest())
    shown = builder.build()._repr_html_()
    assert f"<caption>KafkaSource of a {kind}</caption>" in shown
    assert "<td>topic</td><td>orders</td>" in shown
    assert "<td>properties.sasl.password</td><td>***</td>" in shown
    assert "hush" not in shown
