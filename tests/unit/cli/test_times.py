from __future__ import annotations

import pytest

from millrace_cli.times import parse_time


def test_a_time_has_a_zone_or_that_of_this_machine() -> None:
    assert parse_time("1970-01-01 00:01 UTC") == parse_time("1970-01-01T01:01:00+01:00") == 60_000


def test_milliseconds_are_a_time_and_digits_of_a_date_are_none() -> None:
    assert parse_time("1767323045678") == 1_767_323_045_678
    with pytest.raises(ValueError, match="expected a time such as"):
        parse_time("20261123")


def test_what_is_no_time_is_told() -> None:
    with pytest.raises(ValueError, match="expected a time such as"):
        parse_time("yesterday")
