from __future__ import annotations

import pytest

from millrace.api.source import KafkaSource
from millrace.configuration.build import configure_source
from millrace.errors import OptionsError

BASE = {"properties.bootstrap.servers": "h:1", "topic": "orders", "format": "json"}
TOLERANT = {"ingestion.ignore-errors": "true"}
LETTERS = {"dirty-data.collector": "topic", "dirty-data.collector.topic": "dead"}


def problems(options: dict[str, str]) -> tuple[str, ...]:
    with pytest.raises(OptionsError) as error:
        configure_source(options)
    return error.value.problems


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ingestion.error-tolerance.max-count": "-1"},
        {"ingestion.error-tolerance.max-count": "1000", "dirty-data.collector": "logger"},
        {"dirty-data.collector.type": "logger"},
        LETTERS,
    ],
)
def test_options_that_fit_are_taken(options: dict[str, str]) -> None:
    assert configure_source({**BASE, **TOLERANT, **options}).options.ignore_errors


@pytest.mark.parametrize("strict", [{}, {"ingestion.ignore-errors": "false"}])
def test_a_collector_needs_tolerated_messages(strict: dict[str, str]) -> None:
    assert problems({**BASE, **strict, "dirty-data.collector": "logger"}) == (
        "option 'dirty-data.collector' requires 'ingestion.ignore-errors' = 'true'; otherwise a malformed message ends "
        "the query",
    )


@pytest.mark.parametrize("strict", [{}, {"ingestion.ignore-errors": "false"}])
def test_a_limit_without_tolerance_has_no_effect_and_a_warning(
    strict: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    options = {**BASE, **strict, "ingestion.error-tolerance.max-count": "7"}
    assert not configure_source(options).options.ignore_errors
    assert [record.getMessage() for record in caplog.records if "has no effect" in record.getMessage()] == [
        "option 'ingestion.error-tolerance.max-count' has no effect without 'ingestion.ignore-errors' = 'true': the "
        "first malformed message ends the query"
    ]


def test_without_a_format_nothing_is_malformed() -> None:
    assert problems({"properties.bootstrap.servers": "h:1", **TOLERANT}) == (
        "option 'ingestion.ignore-errors' requires 'value.format'; without a format no message is malformed",
    )


def test_a_topic_for_them_needs_its_name() -> None:
    assert problems({**BASE, **TOLERANT, "dirty-data.collector": "topic"}) == (
        "option 'dirty-data.collector.topic' is required",
    )


def test_a_topic_needs_the_collector_that_has_it() -> None:
    assert problems({**BASE, **TOLERANT, "dirty-data.collector.topic": "dead"}) == (
        "option 'dirty-data.collector.topic' requires 'dirty-data.collector', the collector that it is for, such as "
        "'topic'",
    )
    assert problems({**BASE, **TOLERANT, "dirty-data.collector": "logger", "dirty-data.collector.topic": "dead"}) == (
        "option 'dirty-data.collector.topic' requires a collector that has this option; 'dirty-data.collector' is "
        "'logger'",
    )


def test_a_collector_whose_topics_have_no_options_is_told() -> None:
    assert problems({**BASE, **TOLERANT, "dirty-data.collector": "support.plugins:ListOfTopics"}) == (
        "option 'dirty-data.collector': the property 'topics' of 'support.plugins:ListOfTopics' must map topics to the "
        "options that name them; it is ['dead']",
    )


def test_a_collector_that_is_not_installed_is_told_with_those_that_are() -> None:
    assert problems({**BASE, **TOLERANT, "dirty-data.collector": "loger"}) == (
        "option 'dirty-data.collector': unknown dead letter collector 'loger'; installed: logger, topic. Did you mean "
        "'logger'?",
    )


@pytest.mark.parametrize(
    "selection",
    [
        {"topic": "orders;dead"},
        {"topic-partitions": "orders:0;dead:1"},
        {"topic-pattern": "d.*"},
        {"subscribe": "dead"},
    ],
)
def test_a_topic_that_is_read_is_refused(selection: dict[str, str]) -> None:
    base = {name: value for name, value in BASE.items() if name != "topic"}
    assert problems({**base, **TOLERANT, **LETTERS, **selection}) == (
        "option 'dirty-data.collector.topic': 'dead' is among the topics that are read; give another one",
    )


LIMITS = ("ingestion.error-tolerance.max-count", "dirty-data.max-ratio", "dirty-data.max-consecutive")


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_of_all_tasks_needs_the_driver(limit: str) -> None:
    quiet = {"scan.metrics.address": "", limit: "1"}
    assert problems({**BASE, **TOLERANT, **quiet}) == (
        f"option '{limit}': the tasks of a stream count together through the driver; "
        "remove 'scan.metrics.address', or set it to an address of the driver",
    )


@pytest.mark.parametrize("limit", LIMITS[1:])
def test_a_limit_needs_messages_that_are_tolerated(limit: str) -> None:
    assert problems({**BASE, limit: "1"}) == (
        f"option '{limit}' requires 'ingestion.ignore-errors' = 'true'; otherwise a malformed message ends the query",
    )


def test_builders_take_them_too() -> None:
    source = (
        KafkaSource.builder()
        .set_bootstrap_servers("h:1")
        .set_topics("orders")
        .set_value_only_deserializer("json")
        .set_option("ingestion.ignore-errors", True)
        .set_option("ingestion.error-tolerance.max-count", 1_000)
        .build()
    )
    assert configure_source(source.options).options.max_errors == 1_000
