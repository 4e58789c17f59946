"""The options of Spark's own Kafka connector: what each becomes, what is refused, and that the page names them all."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

import pytest
from tests.support.both_directions import Configured, configure

from millrace.configuration.spark_compat import SPARK_OPTIONS, translate_spark_options
from millrace.errors import OptionsError
from millrace.options import options_of
from millrace.options.connector import SinkOptions, SourceOptions

PAGE = Path(__file__).parents[4] / "docs/from-spark-kafka.md"
SERVERS = {"kafka.bootstrap.servers": "h:9092"}


def configured(options: dict[str, str]) -> Configured:
    return configure({**SERVERS, **options})


def problems(options: dict[str, str]) -> list[str]:
    with pytest.raises(OptionsError) as error:
        configured(options)
    return list(error.value.problems)


def problem(options: dict[str, str]) -> str:
    (only,) = problems(options)
    return only


def rewritten(options: dict[str, str]) -> dict[str, str]:
    made = translate_spark_options(options)
    assert made.problems == ()
    return dict(made.options)


class TestSelection:
    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ({"subscribe": "orders"}, {"topic": "orders"}),
            ({"subscribe": " a, b.c ,,a,d-e_F"}, {"topic": "a;b.c;d-e_F"}),
            ({"subscribePattern": " orders-.* "}, {"topic-pattern": "orders-.*"}),
            ({"assign": '{"a": [1, 0, 1], "b": [2], "c": []}'}, {"topic-partitions": "a:1,0;b:2"}),
            ({"assign": '{"a": ["0", "1"]}'}, {"topic-partitions": "a:0,1"}),
        ],
    )
    def test_says_what_is_read(self, given: dict[str, str], expected: dict[str, str]) -> None:
        assert rewritten(given) == expected

    def test_is_what_the_source_reads(self) -> None:
        assert configured({"subscribe": "a,b"}).source.options.topics == ("a", "b")
        assert configured({"subscribePattern": "a.*"}).source.options.topic_pattern == "a.*"
        assert configured({"assign": '{"a":[0,1],"b":[2]}'}).source.options.partitions == (("a", 0), ("a", 1), ("b", 2))

    def test_subscribed_topics_are_never_written_to(self) -> None:
        assert configured({"subscribe": "a"}).sink.options.topics == ()
        assert configured({"topic": "a"}).sink.options.topics == ("a",)

    @pytest.mark.parametrize(
        ("options", "names"),
        [
            ({"subscribe": "a", "subscribePattern": "b"}, "'subscribe' and 'subscribePattern'"),
            ({"subscribe": "a", "assign": '{"b":[0]}'}, "'subscribe' and 'assign'"),
            (
                {"subscribe": "a", "subscribePattern": "b", "assign": "c"},
                "'subscribe' and 'subscribePattern' and 'assign'",
            ),
            ({"assign": '{"b":[0]}', "topic-pattern": "b"}, "'assign' and 'topic-pattern'"),
            ({"subscribePattern": "a", "topic-partitions": "b:0"}, "'subscribePattern' and 'topic-partitions'"),
        ],
    )
    def test_is_made_once(self, options: dict[str, str], names: str) -> None:
        assert problem(options) == f"options {names} exclude each other: give one of them"

    def test_beside_a_topic_is_told_what_each_is_for(self) -> None:
        assert problem({"subscribe": "a", "topic": "b"}) == (
            "options 'subscribe' and 'topic' exclude each other: give one of them ('topic' is also where to write: "
            "give each to its own query)"
        )

    @pytest.mark.parametrize("text", ["", " , ", "a;b", "a b", "ä"])
    def test_of_no_topics_is_refused(self, text: str) -> None:
        expected = f"option 'subscribe': expected topic names separated by ',', such as 'orders,audit'; got {text!r}"
        assert problem({"subscribe": text}) == expected

    def test_by_an_empty_pattern_is_refused(self) -> None:
        assert problem({"subscribePattern": " "}).startswith("option 'subscribePattern': expected a regular expression")

    def test_by_a_wrong_pattern_is_told_with_the_name_that_was_written(self) -> None:
        assert problem({"subscribePattern": "a("}).startswith(
            "option 'subscribePattern': expected a regular expression: missing )"
        )

    @pytest.mark.parametrize(
        "text",
        ["", "a", "[]", "{}", '{"a": []}', '{"a": 0}', '{"a": "01"}', '{"a": [-1]}', '{"a": [1.5]}', '{"": [0]}'],
    )
    def test_of_partitions_that_are_malformed_is_told_with_an_example(self, text: str) -> None:
        told = problem({"assign": text})
        assert told.startswith("option 'assign': expected partitions as JSON such as {\"orders\": [0, 1], ")
        assert told.endswith(f"; got {text!r}")


ALL_NAMED = {"all-partitions-named": "true"}


class TestBounds:
    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ({"startingOffsets": "earliest"}, {"scan.startup.mode": "earliest-offset"}),
            ({"startingOffsets": " Latest "}, {"scan.startup.mode": "latest-offset"}),
            ({"endingOffsets": "latest"}, {"scan.bounded.mode": "latest-offset"}),
            (
                {"startingOffsets": '{"a": {"0": 23, "1": -1}, "b": {"0": -2}}'},
                {
                    "scan.startup.mode": "specific-offsets",
                    "scan.startup.specific-offsets": "topic:a,partition:0,offset:23;topic:a,partition:1,offset:latest;"
                    "topic:b,partition:0,offset:earliest",
                    "scan.startup.all-partitions-named": "true",
                },
            ),
            (
                {"endingOffsets": '{"a": {"0": "23", "1": -1}}'},
                {
                    "scan.bounded.mode": "specific-offsets",
                    "scan.bounded.specific-offsets": "topic:a,partition:0,offset:23;topic:a,partition:1,offset:latest",
                    "scan.bounded.all-partitions-named": "true",
                },
            ),
            (
                {"startingTimestamp": " 1000 "},
                {
                    "scan.startup.mode": "timestamp",
                    "scan.startup.timestamp-millis": "1000",
                    "scan.startup.timestamp-no-match": "error",
                },
            ),
            (
                {"endingTimestamp": "0"},
                {"scan.bounded.mode": "timestamp", "scan.bounded.timestamp-millis": "0"},
            ),
            (
                {"startingOffsetsByTimestamp": '{"a": {"0": 1000}}', "startingOffsetsByTimestampStrategy": "LATEST"},
                {
                    "scan.startup.mode": "timestamp",
                    "scan.startup.partition-timestamps": "topic:a,partition:0,timestamp:1000",
                    "scan.startup.all-partitions-named": "true",
                    "scan.startup.timestamp-no-match": "latest",
                },
            ),
            (
                {"endingOffsetsByTimestamp": '{"a": {"0": 1000}}'},
                {
                    "scan.bounded.mode": "timestamp",
                    "scan.bounded.partition-timestamps": "topic:a,partition:0,timestamp:1000",
                    "scan.bounded.all-partitions-named": "true",
                },
            ),
        ],
    )
    def test_say_where_reading_starts_and_stops(self, given: dict[str, str], expected: dict[str, str]) -> None:
        assert rewritten(given) == expected

    def test_are_the_sources_offset_initializers(self) -> None:
        source = configured({"startingTimestamp": "5", "endingOffsets": '{"a": {"0": -1}}'}).source
        assert source.startup is not None
        assert source.bounded is not None
        assert (source.startup.name, source.startup.options.millis, source.startup.options.no_match) == (
            "timestamp",
            5,
            "error",
        )
        assert (source.bounded.name, source.bounded.options.entries) == ("specific-offsets", (("a", 0, "latest"),))

    def test_by_default_are_the_kind_of_querys(self) -> None:
        source = configured({"subscribe": "a", "startingOffsetsByTimestampStrategy": "latest"}).source
        assert (source.startup, source.bounded) == (None, None)

    @pytest.mark.parametrize(("starting", "prefix"), [("starting", "scan.startup."), ("ending", "scan.bounded.")])
    def test_a_time_decides_before_times_and_times_before_offsets(self, starting: str, prefix: str) -> None:
        offsets, times = {f"{starting}Offsets": '{"a":{"0":7}}'}, {f"{starting}OffsetsByTimestamp": '{"a":{"0":8}}'}
        time = {f"{starting}Timestamp": "9"}

        assert rewritten({**offsets, **times, **time})[f"{prefix}timestamp-millis"] == "9"
        by_times = rewritten({**offsets, **times})
        assert by_times[f"{prefix}partition-timestamps"] == "topic:a,partition:0,timestamp:8"
        assert f"{prefix}specific-offsets" not in by_times

    @pytest.mark.parametrize(
        ("spark", "own"),
        [
            ("startingOffsets", "scan.startup.mode"),
            ("startingTimestamp", "scan.startup.timestamp-millis"),
            ("startingOffsetsByTimestamp", "scan.startup.mode"),
            ("endingOffsets", "scan.bounded.mode"),
        ],
    )
    def test_in_both_ways_are_refused(self, spark: str, own: str) -> None:
        assert f"options {spark!r} and {own!r} exclude each other: give one of them" in problems({spark: "1", own: "1"})

    @pytest.mark.parametrize("name", ["startingOffsets", "endingOffsets"])
    @pytest.mark.parametrize(
        "text", ["", "newest", "{", "[]", "{}", "7", '{"a": 3}', '{"a": {}}', '{"a": {"x": 1}}', '{"a": {"0": 1.5}}']
    )
    def test_of_malformed_offsets_are_told_with_an_example(self, name: str, text: str) -> None:
        told = problem({name: text})
        words = "earliest or latest" if name == "startingOffsets" else "latest"
        assert told.startswith(f'option {name!r}: expected {words}, or offsets as JSON such as {{"orders": {{"0": 23')
        assert told.endswith(f"; got {text!r}")

    def test_reading_cannot_stop_at_the_earliest_offsets(self) -> None:
        assert problem({"endingOffsets": "earliest"}).startswith("option 'endingOffsets': expected latest, or offsets")
        assert problem({"endingOffsets": '{"a": {"0": -2}}'}) == (
            "option 'endingOffsets': expected offsets from 0, or -1 for latest, but there is -2; "
            'got \'{"a": {"0": -2}}\''
        )

    def test_no_other_negative_offset_means_anything(self) -> None:
        assert "expected offsets from 0, or -2 for earliest or -1 for latest, but there is -3" in problem(
            {"startingOffsets": '{"a": {"0": -3}}'}
        )

    @pytest.mark.parametrize("name", ["startingTimestamp", "endingTimestamp"])
    @pytest.mark.parametrize("text", ["", "yesterday", "-1", "1.5", "9223372036854775808"])
    def test_of_a_time_that_is_none_are_refused(self, name: str, text: str) -> None:
        expected = f"option {name!r}: expected milliseconds since 1970 UTC, such as '1767323045678'; got {text!r}"
        assert problem({name: text}) == expected

    @pytest.mark.parametrize("name", ["startingOffsetsByTimestamp", "endingOffsetsByTimestamp"])
    @pytest.mark.parametrize("text", ["", "5", '{"a": 5}', '{"a": {"0": "x"}}', '{"a": {"0": -1}}', '{"a": {"-1": 1}}'])
    def test_of_times_that_are_malformed_are_told_with_an_example(self, name: str, text: str) -> None:
        told = problem({name: text})
        assert told.startswith(f"option {name!r}: expected milliseconds since 1970 UTC as JSON such as ")
        assert told.endswith(f"; got {text!r}")

    def test_the_strategy_is_one_of_two(self) -> None:
        assert problem({"startingTimestamp": "1", "startingOffsetsByTimestampStrategy": "earliest"}) == (
            "option 'startingOffsetsByTimestampStrategy': expected one of error, latest; got 'earliest'"
        )

    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            (
                {"startingOffsets": '{"a": {"0": 7, "1": 2}}', "endingOffsets": '{"a": {"0": 5, "1": 2}}'},
                "'startingOffsets' is behind 'endingOffsets' for a-0: expected at most 5; got 7",
            ),
            (
                {"startingTimestamp": "7", "endingTimestamp": "5"},
                "'startingTimestamp' is behind 'endingTimestamp': expected at most 5; got 7",
            ),
            (
                {"startingOffsetsByTimestamp": '{"a": {"0": 7}}', "endingOffsetsByTimestamp": '{"a": {"0": 5}}'},
                "'startingOffsetsByTimestamp' is behind 'endingOffsetsByTimestamp' for a-0: expected at most 5; got 7",
            ),
        ],
    )
    def test_the_start_is_not_behind_the_end(self, options: dict[str, str], expected: str) -> None:
        assert problem(options) == expected

    def test_the_ends_of_the_log_are_behind_nothing(self) -> None:
        rewritten({"startingOffsets": '{"a": {"0": 7}}', "endingOffsets": '{"a": {"0": -1}}'})
        rewritten({"startingOffsets": '{"a": {"0": -2}}', "endingOffsets": '{"a": {"0": 0}}'})


class TestClient:
    def test_properties_have_another_prefix(self) -> None:
        source = configured({"kafka.isolation.level": "read_uncommitted", "Kafka.Fetch.Min.Bytes": "5"}).source
        assert dict(source.client) == {
            "bootstrap.servers": "h:9092",
            "isolation.level": "read_uncommitted",
            "fetch.min.bytes": "5",
        }

    def test_both_prefixes_may_agree(self) -> None:
        assert configured({"kafka.acks": "1", "properties.acks": "1"}).sink.client["acks"] == "1"

    def test_both_prefixes_may_not_differ(self) -> None:
        assert problem({"kafka.acks": "1", "properties.acks": "all"}) == (
            "'properties.acks' and 'kafka.acks' mean the same option but differ; give one of them"
        )

    def test_secrets_are_in_no_problem(self) -> None:
        told = problems(
            {"kafka.sasl.password": "hush", "properties.sasl.password": "hushed", "kafka.buffer.memory": "x"}
        )
        assert len(told) == 2
        assert "hush" not in "".join(told)

    def test_what_the_client_cannot_do_is_told_with_the_name_that_was_written(self) -> None:
        assert problem({"kafka.partitioner.class": "x"}) == (
            "option 'kafka.partitioner.class' cannot be set: Java classes cannot be used; use the option "
            "'sink.partitioner': default, round-robin, or a class of Python as module:Class"
        )

    @pytest.mark.parametrize(
        "name",
        [
            "auto.offset.reset",
            "key.deserializer",
            "value.deserializer",
            "key.serializer",
            "value.serializer",
            "enable.auto.commit",
            "interceptor.classes",
        ],
    )
    def test_what_sparks_connector_refuses_is_refused(self, name: str) -> None:
        assert problem({f"kafka.{name}": "x"}).startswith(
            f"option 'kafka.{name}' cannot be set, as with Spark's own connector: "
        )

    def test_the_servers_are_required(self) -> None:
        with pytest.raises(OptionsError, match=r"option 'properties\.bootstrap\.servers' is required"):
            configure({"subscribe": "a"})


class TestGroup:
    @pytest.mark.parametrize(
        ("options", "group", "follows"),
        [
            ({}, None, False),
            ({"kafka.group.id": "g"}, "g", False),
            ({"groupIdPrefix": "p"}, "p", False),
            ({"kafka.group.id": "g", "groupIdPrefix": "p"}, "g", False),
            ({"properties.group.id": "g"}, "g", True),
            ({"properties.group.id": "g", "kafka.group.id": "g"}, "g", True),
            ({"properties.group.id": "g", "groupIdPrefix": "p"}, "g", True),
        ],
    )
    def test_is_followed_only_under_millraces_own_name(
        self, options: dict[str, str], group: str | None, follows: bool
    ) -> None:
        source = configured(options).source
        assert (source.client.get("group.id"), source.follows_group) == (group, follows)


WITHOUT_EFFECT = [
    "kafkaConsumer.pollTimeoutMs",
    "fetchOffset.numRetries",
    "fetchOffset.retryIntervalMs",
    "kafka.max.poll.records",
    "kafka.max.poll.interval.ms",
    "kafka.partition.assignment.strategy",
    "kafka.session.timeout.ms",
]


@pytest.mark.parametrize("name", WITHOUT_EFFECT)
def test_what_has_no_meaning_is_accepted_with_one_warning(name: str, caplog: pytest.LogCaptureFixture) -> None:
    options = {"subscribe": f"topic-of-{name}"}
    with caplog.at_level(logging.WARNING, "millrace.options"):
        made = configured({**options, name: "17"})
        configured({**options, name: "17"})

    assert made == configured(options)
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("millrace.options", logging.WARNING)
    assert record.getMessage().startswith(f"option {name!r} has no effect in millrace: ")


def test_names_are_compared_without_case() -> None:
    lowered = {"subscribe": "a", "startingoffsets": "earliest", "groupidprefix": "p", "fetchoffset.numretries": "1"}
    assert rewritten(lowered) == rewritten({name.upper(): text for name, text in lowered.items()})


def test_one_name_in_two_cases_may_not_differ() -> None:
    assert problem({"subscribe": "a", "Subscribe": "b"}) == (
        "'Subscribe' and 'subscribe' mean the same option but differ; give one of them"
    )
    assert rewritten({"subscribe": "a", "Subscribe": "a"}) == {"topic": "a"}


def test_options_of_millrace_are_left_alone() -> None:
    own = {"Topic": "a", "scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": "1", "properties.acks": "1"}
    assert rewritten(own) == own


def test_a_misspelled_name_is_told_with_the_nearest() -> None:
    assert problem({"startingOffset": "earliest"}) == (
        "unknown option 'startingOffset'; did you mean 'startingOffsets'?"
    )


def test_all_problems_are_told_at_once() -> None:
    found = problems(
        {"assign": "x", "startingOffsets": "x", "endingTimestamp": "x", "kafka.key.serializer": "x", "unheard.of": "x"}
    )
    assert len(found) == 5


RENAMED: dict[str, tuple[str, str, Any]] = {
    "maxOffsetsPerTrigger": ("max_records_per_batch", "500", 500),
    "maxBytesPerTrigger": ("max_bytes_per_batch", "500", 500),
    "minOffsetsPerTrigger": ("min_records_per_batch", "500", 500),
    "maxTriggerDelay": ("max_batch_delay_ms", "15m", 900_000),
    "minPartitions": ("parallelism", "5", 5),
    "maxRecordsPerPartition": ("max_records_per_split", "500", 500),
    "failOnDataLoss": ("fail_on_data_loss", "false", False),
    "includeHeaders": ("include_headers", "true", True),
}


@pytest.mark.parametrize("name", RENAMED)
def test_what_only_has_another_name_here_is_taken(name: str) -> None:
    field, text, value = RENAMED[name]
    assert getattr(configured({name: text}).source.options, field) == value


class TestPage:
    def rows(self) -> str:
        section = PAGE.read_text().partition("\n## Options\n")[2].partition("\n## ")[0]
        return "\n".join(line for line in section.splitlines() if line.startswith("| "))

    def first_column(self) -> set[str]:
        cells = (line.split("|")[1] for line in self.rows().splitlines())
        return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}

    def test_the_table_names_every_option_of_sparks_connector_that_the_code_knows(self) -> None:
        assert set(SPARK_OPTIONS) <= self.first_column()

    def test_the_table_names_every_alias(self) -> None:
        infos = [info for side in (SourceOptions, SinkOptions) for info in options_of(side).values()]
        # Names of Spark's connector are in camel case, and so is an option that has kept its name
        sparks = {name for info in infos for name in (info.name, *info.aliases) if name.lower() != name}
        assert "maxOffsetsPerTrigger" in sparks
        assert sparks <= self.first_column()

    def test_the_table_names_no_option_that_the_code_does_not_know(self) -> None:
        infos = [info for side in (SourceOptions, SinkOptions) for info in options_of(side).values()]
        known = {*SPARK_OPTIONS, *(name for info in infos for name in (info.name, *info.aliases))}
        named = {name for name in self.first_column() if not name.startswith(("kafka.", "spark."))}
        assert named <= known
