"""Filters of a query as conditions on the metadata of records."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    IsNull,
    LessThan,
    LessThanOrEqual,
    Not,
    StringStartsWith,
)

from millrace.configuration.build import configure_source
from millrace.spark.batch_reader import FilteringBatchReader
from millrace.spark.pushed_filters import PushedFilters
from pyspark_millrace import DefaultSource

PLAIN = {"properties.bootstrap.servers": "h:1", "topic": "a"}
NAMED = {**PLAIN, "format": "json", "metadata.columns": "timestamp AS at, partition AS p, offset, __raw_key__ AS k"}
TABLE = {
    **NAMED,
    "connector": "upsert-kafka",
    "key.format": "json",
    "key.fields": "id",
    "value.format": "json",
    "state.checkpoints.dir": "/nowhere",
}
TIME = datetime(1970, 1, 1, 0, 0, 1, 500, tzinfo=UTC)


def pushed(*filters: Filter, **options: str) -> PushedFilters:
    return PushedFilters.of(filters, configure_source(options or PLAIN))


@pytest.mark.parametrize(
    ("condition", "meaning"),
    [
        (EqualTo(("partition",), 1), "partition in (1)"),
        (Not(EqualTo(("partition",), 1)), "partition not in (1)"),
        (In(("partition",), (2, 1, None)), "partition in (1, 2)"),
        (GreaterThan(("partition",), 1), "partition >= 2"),
        (EqualNullSafe(("topic",), "a"), "topic in ('a')"),
        (LessThanOrEqual(("offset",), 9), "offset < 10"),
        (In(("offset",), (3, 5, 4)), "offset >= 3 and offset < 6"),
        (IsNotNull(("offset",)), "none"),
    ],
)
def test_filters_that_offsets_express_need_not_be_evaluated_again(condition: Filter, meaning: str) -> None:
    result = pushed(condition)
    assert (result.description, result.remaining) == (meaning, ())


@pytest.mark.parametrize(
    ("condition", "meaning"),
    [
        # Timestamps have milliseconds, and filters microseconds
        (GreaterThan(("timestamp",), TIME), "timestamp >= 1970-01-01 00:00:01.001+00:00"),
        (
            GreaterThanOrEqual(("timestamp",), TIME.astimezone(timezone(timedelta(hours=2)))),
            "timestamp >= 1970-01-01 00:00:01.001+00:00",
        ),
        (LessThan(("timestamp",), TIME.replace(microsecond=0)), "timestamp < 1970-01-01 00:00:01.000+00:00"),
        (LessThanOrEqual(("timestamp",), TIME), "timestamp < 1970-01-01 00:00:01.001+00:00"),
        (In(("offset",), (3, 5)), "offset >= 3 and offset < 6"),
        (EqualTo(("key",), bytearray(b"x")), "key in (b'x')"),
    ],
)
def test_other_records_may_be_read_where_spark_evaluates_a_filter_again(condition: Filter, meaning: str) -> None:
    result = pushed(condition)
    assert (result.description, result.remaining) == (meaning, (condition,))


@pytest.mark.parametrize(
    "condition",
    [
        EqualTo(("value",), b"x"),
        EqualTo(("headers", "partition"), 1),
        Not(In(("partition",), (1, None))),
        Not(EqualTo(("key",), b"x")),
        Not(GreaterThan(("offset",), 1)),
        EqualNullSafe(("offset",), None),
        IsNull(("timestamp",)),
        IsNotNull(("timestamp",)),
        StringStartsWith(("topic",), "a"),
    ],
)
def test_filters_that_tell_no_offsets_are_left_to_spark(condition: Filter) -> None:
    assert pushed(condition) == PushedFilters((), (condition,))


def test_columns_have_the_names_and_types_that_the_user_gave_them() -> None:
    filters = (GreaterThanOrEqual(("at",), 1_700), EqualTo(("p",), 1), EqualTo(("k",), "ü"), EqualTo(("partition",), 2))
    result = pushed(*filters, **NAMED)
    assert result.description == (
        "timestamp >= 1970-01-01 00:00:01.700+00:00 and partition in (1) and key in (b'\\xc3\\xbc')"
    )
    assert result.remaining == (filters[0], filters[2], filters[3])


def test_without_a_format_the_users_names_come_before_those_of_messages() -> None:
    named = {**PLAIN, "metadata.columns": "leader-epoch AS partition, offset AS timestamp, partition AS p"}
    filters = (EqualTo(("partition",), 1), GreaterThan(("timestamp",), 5), EqualTo(("p",), 2), EqualTo(("key",), b"x"))
    result = pushed(*filters, **named)
    assert result.description == "offset >= 6 and partition in (2) and key in (b'x')"
    assert result.remaining == (filters[0], filters[3])


def test_the_rows_of_a_table_need_all_earlier_records_of_their_partition() -> None:
    filters = (EqualTo(("p",), 1), GreaterThan(("offset",), 5), GreaterThan(("at",), TIME))
    result = pushed(*filters, **TABLE)
    assert (result.description, result.remaining) == ("partition in (1)", filters[1:])


def test_only_a_reader_that_is_asked_to_takes_filters() -> None:
    """Spark refuses a reader that does, in a session without the setting."""
    schema = DefaultSource(PLAIN).schema()
    assert not isinstance(DefaultSource(PLAIN).reader(schema), FilteringBatchReader)
    reader = DefaultSource({**PLAIN, "scan.filter-pushdown": "true"}).reader(schema)
    assert isinstance(reader, FilteringBatchReader)
    remaining = EqualTo(("value",), b"x")
    assert list(reader.pushFilters([EqualTo(("partition",), 1), remaining])) == [remaining]
