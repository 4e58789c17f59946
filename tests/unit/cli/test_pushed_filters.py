"""The conditions of --where as filters that Spark would push."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pyspark.sql.datasource import EqualTo, Filter, GreaterThan, GreaterThanOrEqual, In, LessThan, LessThanOrEqual, Not

from millrace_cli.errors import CommandError
from millrace_cli.row_filter import parse_row_filter
from millrace_cli.row_filter.pushed_filters import pushed_filters

AT = datetime(2026, 11, 27, 16, tzinfo=UTC)


@pytest.mark.parametrize(
    ("where", "filters"),
    [
        ("partition = 1 AND 9 > offset", [EqualTo(("partition",), 1), LessThan(("offset",), 9)]),
        ("partition IN (1, 2)", [In(("partition",), (1, 2))]),
        ("partition NOT IN (1, 2)", [Not(In(("partition",), (1, 2)))]),
        ("partition <> 1", [Not(EqualTo(("partition",), 1))]),
        ("offset BETWEEN 5 AND 9", [GreaterThanOrEqual(("offset",), 5), LessThanOrEqual(("offset",), 9)]),
        ("timestamp > '2026-11-27 16:00'", [GreaterThan(("timestamp",), AT)]),
        (
            "timestamp > '2026-11-27 17:00+01:00' AND key = 'x'",
            [GreaterThan(("timestamp",), AT), EqualTo(("key",), "x")],
        ),
        ("partition = 1 OR offset = 2", []),
        ("key LIKE 'a%' AND headers['x'] = 'y' AND topic IS NOT NULL", []),
    ],
)
def test_comparisons_that_all_rows_fulfil_are_pushed(where: str, filters: list[Filter]) -> None:
    assert pushed_filters(parse_row_filter(where), {}) == filters


def test_a_column_of_timestamps_has_the_name_that_the_options_give_it() -> None:
    options = {"metadata.columns": "timestamp AS at"}
    assert pushed_filters(parse_row_filter("at >= '2026-11-27 16:00Z'"), options) == [GreaterThanOrEqual(("at",), AT)]


def test_what_is_no_time_is_told() -> None:
    with pytest.raises(CommandError, match=r"character 13: expected a time such as '2026-11-27 16:00', in UTC without"):
        pushed_filters(parse_row_filter("timestamp > 'yesterday'"), {})
