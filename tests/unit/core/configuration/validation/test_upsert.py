"""Options of tables with a primary key."""

from __future__ import annotations

import pytest

from millrace.configuration.build import check_options
from millrace.errors import OptionsError

TABLE = {
    "properties.bootstrap.servers": "h:1",
    "connector": "upsert-kafka",
    "topic": "orders",
    "key.format": "json",
    "key.fields": "id",
    "value.format": "json",
}


def problems(changes: dict[str, str], *without: str) -> tuple[str, ...]:
    with pytest.raises(OptionsError) as error:
        check_options({name: value for name, value in (TABLE | changes).items() if name not in without})
    return error.value.problems


def test_a_table_needs_a_topic_a_key_and_a_value() -> None:
    check_options(TABLE)
    missing = problems({}, "topic", "key.format", "key.fields", "value.format")
    assert [text.split(" with ")[0] for text in missing] == [
        "option 'topic' is required",
        "option 'key.format' is required",
        "option 'key.fields' is required",
        "option 'value.format' is required",
    ]


def test_key_fields_are_asked_for_once() -> None:
    assert problems({}, "key.fields") == (
        "option 'key.format' requires 'key.fields', the columns of the key, such as 'id;country'",
    )


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"topic": "a;b"}, "option 'topic' must name one topic with 'connector' = 'upsert-kafka', not 2: 'a;b'"),
        ({"scan.startup.mode": "latest-offset"}, "'scan.startup.mode' must be 'earliest-offset'"),
        ({"startingOffsets": "latest"}, "'startingOffsets' must be 'earliest-offset'"),
        ({"scan.header-filter": "a:b"}, "filter the rows instead"),
        ({"scan.parallelism": "4"}, "option 'scan.parallelism' cannot be used"),
        ({"scan.split.max-records": "4"}, "option 'scan.split.max-records' cannot be used"),
        ({"scan.fail-on-data-loss": "false"}, "option 'scan.fail-on-data-loss' must be 'true'"),
        ({"value.format": "debezium-json"}, "'debezium-json' is a changelog format"),
        ({"key.format": "canal-json"}, "'canal-json' is a changelog format, which keys cannot have"),
        ({"metadata.columns": "offset AS row_kind"}, "column 'row_kind' holds the row kinds"),
    ],
)
def test_what_a_table_cannot_have_is_refused(given: dict[str, str], why: str) -> None:
    (problem,) = problems(given)
    assert why in problem


@pytest.mark.parametrize("option", [{"topic-pattern": "o.*"}, {"topic-partitions": "orders:0"}])
def test_a_table_is_one_whole_topic(option: dict[str, str]) -> None:
    (problem,) = problems(option, "topic")
    assert "a table is" in problem


def test_a_table_may_start_at_the_earliest_offset() -> None:
    check_options({**TABLE, "scan.startup.mode": "earliest-offset", "changelog.row-kind-column": "kind"})
