from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from tests.support.both_directions import Configured, configure

from millrace.contracts import NoOptions
from millrace.errors import OptionsError
from millrace.options.connector import SinkOptions, SourceOptions

METRICS = ("register.consumer.metrics", "register.producer.metrics")
SERVERS = {"properties.bootstrap.servers": "h:9092"}


def configured(options: dict[str, str] | None = None) -> Configured:
    return configure({**SERVERS, **(options or {})})


def problems(options: dict[str, str], *, servers: bool = True) -> list[str]:
    with pytest.raises(OptionsError) as error:
        configure({**(SERVERS if servers else {}), **options})
    return list(error.value.problems)


def test_without_further_options_everything_has_its_default() -> None:
    made = configured()
    assert made.source.options == SourceOptions()
    assert made.sink.options == SinkOptions()
    assert dict(made.source.client) == {"bootstrap.servers": "h:9092"}
    assert (made.source.value_format, made.source.startup, made.source.bounded, made.source.header_filter) == (
        None,
    ) * 4
    assert made.sink.partitioner.name == "default"


def test_source_and_sink_share_client_topic_and_format() -> None:
    made = configured({"topic": "a", "format": "raw"})
    assert made.source.client == made.sink.client
    assert made.source.options.topics == made.sink.options.topics == ("a",)
    assert made.source.value_format == made.sink.value_format


def test_names_are_compared_without_case() -> None:
    assert configure({"Properties.Bootstrap.Servers": "h:1", "TOPIC": "A"}).source.options.topics == ("A",)


def test_values_that_are_no_text_are_taken_as_their_text() -> None:
    raw = {**SERVERS, "includeHeaders": True, "scan.max-records-per-batch": 5}
    options = configure(raw).source.options
    assert (options.include_headers, options.max_records_per_batch) == (True, 5)


def test_a_configuration_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        configured().source.options = SourceOptions()


def test_the_same_options_in_any_order_are_parsed_once() -> None:
    first, second = configure({**SERVERS, "topic": "a"}), configure({"topic": "a", **SERVERS})
    assert first.source is second.source
    assert first.sink is second.sink


def test_other_options_give_another_configuration() -> None:
    assert configured({"topic": "a"}) != configured({"topic": "b"})


def test_a_wrong_configuration_is_refused_every_time() -> None:
    assert problems({"topicc": "a"}) == problems({"topicc": "a"})


@pytest.mark.parametrize(
    "name", ["json.ignore-parse-errors", "value.json.ignore-parse-errors", "VALUE.JSON.Ignore-Parse-Errors"]
)
def test_options_of_the_format_stand_behind_its_name(name: str) -> None:
    ref = configured({"format": "json", name: "true"}).source.value_format
    assert ref is not None
    assert ref.options.ignore_parse_errors is True


def test_options_of_a_format_that_is_not_used_are_unknown() -> None:
    assert problems({"format": "raw", "json.ignore-parse-errors": "true"}) == [
        "unknown option 'json.ignore-parse-errors'; format 'json' is not chosen, or has no such option"
    ]


def test_a_misspelled_option_of_the_format_is_told_with_the_nearest() -> None:
    assert problems({"format": "json", "json.ignore-parse-error": "true"}) == [
        "unknown option 'json.ignore-parse-error'; did you mean 'json.ignore-parse-errors'?"
    ]


def test_a_wrong_value_of_the_formats_option_is_told_with_its_whole_name() -> None:
    assert problems({"format": "json", "json.ignore-parse-errors": "maybe"}) == [
        "option 'json.ignore-parse-errors': expected true or false; got 'maybe'"
    ]


def test_the_two_prefixes_of_a_format_may_not_differ() -> None:
    assert problems(
        {"format": "json", "json.ignore-parse-errors": "true", "value.json.ignore-parse-errors": "false"}
    ) == [
        "'value.json.ignore-parse-errors' and 'json.ignore-parse-errors' mean the same option but differ; give one of "
        "them"
    ]


def test_the_two_names_of_the_format_may_agree() -> None:
    ref = configured({"format": "raw", "value.format": "raw"}).source.value_format
    assert ref is not None
    assert ref.name == "raw"


def test_of_the_two_names_of_the_format_the_longer_one_wins(caplog: pytest.LogCaptureFixture) -> None:
    ref = configured({"format": "raw", "value.format": "csv"}).source.value_format
    assert ref is not None
    assert ref.name == "csv"
    assert caplog.messages == [
        "options 'value.format' and 'format' mean the same but differ: 'value.format' is used, 'csv'"
    ]


def test_options_of_the_format_that_exclude_each_other_are_refused() -> None:
    given = {"format": "json", "json.ignore-parse-errors": "true", "json.fail-on-missing-field": "true"}
    (problem,) = problems(given)
    assert "fail-on-missing-field and ignore-parse-errors exclude each other" in problem


@pytest.mark.parametrize("name", ["jsn", "JSON", "Json"])
def test_an_unknown_format_is_one_problem_however_many_options_it_has(name: str) -> None:
    (problem,) = problems({"format": name, f"{name}.a": "1", f"value.{name}.b": "2"})
    assert problem.startswith(f"option 'value.format': unknown format {name!r}; installed: ")


def test_a_wrong_option_beside_the_format_does_not_make_the_formats_options_unknown() -> None:
    assert problems({"topic": ";", "format": "json", "json.ignore-parse-errors": "true"}) == [
        "option 'topic': expected topic names separated by ';'; got ';'"
    ]


def test_an_unknown_partitioner_is_told() -> None:
    (problem,) = problems({"sink.partitioner": "round-robbin", "sink.partitioner.seed": "1"})
    assert problem == (
        "option 'sink.partitioner': unknown partitioner 'round-robbin'; installed: default, fixed, round-robin. Did "
        "you mean 'round-robin'?"
    )


def test_values_with_a_choice_are_given_in_any_case() -> None:
    made = configured(
        {
            "sink.partitioner": "Round-Robin",
            "scan.startup.mode": "Earliest-Offset",
            "sink.delivery-guarantee": "At-Least-Once",
        }
    )
    assert made.sink.partitioner.name == "round-robin"
    assert made.source.startup is not None
    assert made.source.startup.name == "earliest-offset"
    assert made.sink.options.delivery_guarantee == "at-least-once"


def test_a_partitioner_may_be_given_as_a_class() -> None:
    ref = configured({"sink.partitioner": "millrace_partitioners.fixed:FixedPartitioner"}).sink.partitioner
    assert type(ref.create()).__name__ == "FixedPartitioner"
    assert ref.options == NoOptions()


def test_the_partition_of_a_key_is_found_by_partitioners_that_decide_by_it() -> None:
    made = configured({"scan.filter-pushdown.key-partitioner": "Default"}).source.key_partitioner
    assert made is not None
    assert made.name == "default"
    assert problems({"scan.filter-pushdown.key-partitioner": "round-robin"}) == [
        "option 'scan.filter-pushdown.key-partitioner': partitioner 'round-robin' does not decide by the key alone, so "
        "that a key may be anywhere; if it does, set 'decides_by_key = True' in its class"
    ]


def test_a_class_that_is_missing_is_told() -> None:
    assert problems({"sink.partitioner": "no.such:Thing"}) == [
        "option 'sink.partitioner': partitioner 'no.such:Thing' cannot be loaded from 'no.such:Thing': "
        "ModuleNotFoundError: No module named 'no'"
    ]


@pytest.mark.parametrize(("side", "attribute"), [("startup", "startup"), ("bounded", "bounded")])
def test_offset_initializers_are_looked_up(side: str, attribute: str) -> None:
    ref = getattr(configured({f"scan.{side}.mode": "latest-offset"}).source, attribute)
    assert (ref.kind, ref.name) == ("offset initializer", "latest-offset")


@pytest.mark.parametrize("side", ["startup", "bounded"])
def test_an_unknown_offset_initializer_is_told(side: str) -> None:
    (problem,) = problems({f"scan.{side}.mode": "earliest"})
    assert problem == (
        f"option 'scan.{side}.mode': unknown offset initializer 'earliest'; installed: earliest-offset, group-offsets, "
        f"latest-offset, specific-offsets, timestamp. Did you mean 'earliest-offset'?"
    )


def test_an_unknown_startup_mode_is_one_problem_however_many_options_it_has() -> None:
    (problem,) = problems({"scan.startup.mode": "yesterday", "scan.startup.timestamp-millis": "1"})
    assert problem.startswith("option 'scan.startup.mode': unknown offset initializer 'yesterday'")


def test_a_header_filter_is_parsed() -> None:
    ref = configured({"scan.header-filter": "depart:toy"}).source.header_filter
    assert ref is not None
    assert (ref.name, repr(ref.create())) == ("expression", "ExpressionFilter('depart:toy')")


def test_a_mistake_in_the_header_filter_is_shown_with_a_caret() -> None:
    (problem,) = problems({"scan.header-filter": "depart:toy&&env:test"})
    first, text, caret = problem.splitlines()
    assert first.startswith("option 'scan.header-filter': header filter, character 12: expected a header key")
    assert text.strip() == "depart:toy&&env:test"
    assert caret.index("^") - text.index("depart") == len("depart:toy&")


def test_an_unknown_filter_language_is_told() -> None:
    assert problems({"scan.header-filter": "x", "scan.filter.language": "sql"}) == [
        "option 'scan.filter.language': unknown header filter 'sql'; installed: expression"
    ]


@pytest.mark.parametrize("options", [{}, {"properties.bootstrap.servers": ""}, {"properties.bootstrap.servers": " "}])
def test_the_servers_are_required(options: dict[str, str]) -> None:
    assert problems(options, servers=False) == [
        "option 'properties.bootstrap.servers' is required, such as 'localhost:9092'"
    ]


def test_misspelled_servers_are_told_with_the_right_name() -> None:
    assert problems({"properties.bootstrap.server": "h:1", "property.bootstrap.servers": "h:1"}, servers=False) == [
        "option 'properties.bootstrap.servers' is required, such as 'localhost:9092'",
        "unknown option 'property.bootstrap.servers'; did you mean 'properties.bootstrap.servers'?",
    ]


def test_all_problems_are_told_at_once() -> None:
    found = problems(
        {
            "topicc": "a",
            "scan.max-records-per-batch": "0",
            "sink.delivery-guarantee": "twice",
            "format": "xml",
            "scan.header-filter": ":",
            "scan.startup.mode": "yesterday",
            "sink.partitioner": "rnd",
            "properties.enable.partition.eof": "true",
        }
    )
    assert len(found) == 8


SECRETS = {
    "properties.sasl.password": "hush",
    "properties.sasl.username": "hush",
    "properties.ssl.key.pem": "hush",
    "properties.ssl.key.password": "hush",
}


def test_secrets_are_in_no_text_of_a_configuration() -> None:
    assert "hush" not in repr(configured(SECRETS))
    assert configured(SECRETS).source.client["sasl.password"] == "hush"


def test_secrets_are_in_no_error() -> None:
    handler = "properties.sasl.login.callback.handler.class"
    refused = {"properties.sasl.jaas.config": "hush", handler: "hush", "passwort": "hush"}
    found = problems({**SECRETS, **refused, "topic": ";"})
    assert len(found) == 4
    assert "hush" not in "".join(found)


def test_a_configuration_survives_pickling() -> None:
    made = configured({**SECRETS, "topic": "a", "format": "json", "scan.header-filter": "a:b"})
    for side in (made.source, made.sink):
        copy = pickle.loads(pickle.dumps(side))
        assert (copy, hash(copy)) == (side, hash(side))


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"commit.offsets.on.checkpoint": "true"}, "requires 'properties.group.id'"),
        ({"scan.check.duplicated.group.id": "true"}, "requires 'properties.group.id'"),
        (
            {"scan.watermark.idle-timeout": "1 s"},
            "requires 'scan.watermark.alignment.max-drift'",
        ),
        ({"scan.filter.language": "sql"}, "requires 'scan.header-filter'"),
        (
            {"scan.max.pre.fetch.records": "5"},
            "requires a format with inferred columns, such as 'json'",
        ),
        ({"infer-schema.max-columns": "5"}, "requires a format with inferred columns, such as 'json'"),
    ],
)
def test_an_option_that_needs_another_one_is_refused_without_it(given: dict[str, str], problem: str) -> None:
    with pytest.raises(OptionsError) as error:
        configured(given)
    (name,) = given
    assert error.value.problems == (f"option {name!r} {problem}",)


def test_what_infers_the_columns_has_the_options_of_the_format() -> None:
    options = {"format": "json", "value.json.infer-schema.nested": "struct", "json.ignore-parse-errors": "true"}
    made = configured(options).source
    assert made.inference is not None
    assert made.value_format is not None
    inferring = made.inference.create().options
    assert (inferring.nesting, inferring.ignore_parse_errors) == ("struct", True)
    assert made.value_format.options.ignore_parse_errors
    assert pickle.loads(pickle.dumps(made)) == made
    assert hash(made) == hash(configured(dict(reversed(options.items()))).source)
    # With the defaults nothing is loaded that most reads do not need
    plain = configured({"format": "json"}).source.inference
    assert plain is not None
    assert plain.options is None
    assert plain.create().options.nesting == "string"
    assert configured({"format": "csv"}).source.inference is None


@pytest.mark.parametrize(
    "name",
    ["partition.discovery.interval.ms", "client.id.prefix", "register.consumer.metrics", "register.producer.metrics"],
)
def test_options_that_the_reference_has_as_properties_are_not_the_clients(name: str) -> None:
    value = {"client.id.prefix": "me", **dict.fromkeys(METRICS, "true")}.get(name, "5")
    made = configured({f"properties.{name}": value})
    assert made == configured({name: value})
    assert name not in made.sink.client


LISTENING = {"sink.metrics.address": "h:1", "sink.metrics.secret": "00ff"}


@pytest.mark.parametrize(
    ("given", "interval"),
    [
        ({}, None),
        (LISTENING, "5000"),
        ({**LISTENING, "properties.statistics.interval.ms": "50"}, "50"),
        ({**LISTENING, "register.producer.metrics": "false"}, "0"),
        ({**LISTENING, "register.producer.metrics": "false", "properties.statistics.interval.ms": "50"}, "0"),
    ],
)
def test_producers_speak_of_themselves_only_to_who_listens(given: dict[str, str], interval: str | None) -> None:
    assert configured(given).sink.client.get("statistics.interval.ms") == interval


@pytest.mark.parametrize("name", sorted(LISTENING))
def test_who_listens_to_metrics_has_address_and_secret(name: str) -> None:
    assert problems({name: LISTENING[name]}) == [
        "options 'sink.metrics.address' and 'sink.metrics.secret' belong together: give both, as "
        "SinkMetricsCollector.options has them"
    ]


def test_the_secret_of_who_listens_is_not_shown() -> None:
    made = configured({**LISTENING, "sink.metrics.secret": b"hush".hex()})
    assert made.sink.options.metrics_secret == b"hush"
    assert "hush" not in repr(made)
    assert b"hush".hex() not in repr(made)


def test_the_group_of_a_table_is_named_after_it_unless_it_is_given() -> None:
    named = configured({"table-name": "orders"}).source
    assert (named.client["group.id"], named.follows_group) == ("KafkaSource-orders", True)
    assert "group.id" not in configured({"table-name": "orders"}).sink.client
    given = configured({"table-name": "orders", "properties.group.id": "mine"}).source
    assert (given.client["group.id"], given.follows_group) == ("mine", True)
    unnamed = configured({}).source
    assert ("group.id" in unnamed.client, unnamed.follows_group) == (False, False)


def test_a_file_that_has_changed_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "shop.desc"
    options = {
        "format": "protobuf",
        "protobuf.message-class-name": "shop.Order",
        "protobuf.descriptor-set": str(file),
    }
    found = []
    for number in (1, 2):
        made = FileDescriptorProto(name="shop.proto", package="shop")
        made.message_type.add(name="Order").field.add(name="x" * number, number=1, type=5, label=1)
        file.write_bytes(FileDescriptorSet(file=[made]).SerializeToString())
        found.append(configured(options).source)
        assert configured(options).source is found[-1]
    assert found[0] != found[1]


def test_a_deprecated_name_is_accepted_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    prefix = {"sink.transactional-id-prefix": "deprecated"}
    sink = configured({"topic": "t", "connector": "kafka", "sink.semantic": "exactly-once", **prefix}).sink
    assert sink.options.is_exactly_once
    assert caplog.messages == ["option 'sink.semantic' is deprecated: write 'sink.delivery-guarantee'"]
