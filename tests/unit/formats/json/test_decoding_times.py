"""Dates, times and timestamps of JSON messages, by whichever reader."""

from __future__ import annotations

from datetime import UTC, date, datetime, time

import pyarrow as pa
import pytest

from unit.formats.json.reading import decode, not_read, value

NTZ = pa.timestamp("us")
INSTANT = pa.timestamp("us", "UTC")
BERLIN = pa.timestamp("us", "Europe/Berlin")


def test_date() -> None:
    assert value(pa.date32(), '"2024-02-29"') == date(2024, 2, 29)
    for text in ('"2023-02-29"', '"2024-1-1"', '"0000-01-01"', '"2024-01-01 "', '"20240101"', "7", '"+2024-01-01"'):
        assert "cannot be read as DATE" in not_read(pa.date32(), text)


@pytest.mark.parametrize("unit", ["us", "ns"])
def test_time(unit: str) -> None:
    assert value(pa.time64(unit), '"23:59:59.5"') in (time(23, 59, 59, 500000), "23:59:59.500000")
    for text in ('"24:00:01"', '"1:00:00"', '"12:00"', "7"):
        assert "cannot be read as TIME" in not_read(pa.time64(unit), text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-05-01 12:34:56", datetime(2024, 5, 1, 12, 34, 56)),
        ("2024-05-01 12:34:56.7", datetime(2024, 5, 1, 12, 34, 56, 700000)),
        ("2024-05-01 12:34:56.123456", datetime(2024, 5, 1, 12, 34, 56, 123456)),
        ("2024-05-01 12:34:56.123456789", datetime(2024, 5, 1, 12, 34, 56, 123456)),
        ("1969-12-31 23:59:59.999999999", datetime(1969, 12, 31, 23, 59, 59, 999999)),
        ("2024-05-01 12:34:56.", datetime(2024, 5, 1, 12, 34, 56)),
        ("2023-02-30 00:00:00", datetime(2023, 2, 28)),
        ("9999-12-31 00:00:00", datetime(9999, 12, 31)),
        ("2023-12-31 24:00:00", datetime(2024, 1, 1)),
    ],
)
def test_sql_timestamps(text: str, expected: datetime) -> None:
    assert value(NTZ, f'"{text}"') == expected
    assert value(INSTANT, f'"{text}Z"') == expected.replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2024-05-01T12:34:56",
        "2024-05-01 12:34",
        "2024-05-01",
        "2024-05-01 12:34:56+",
        "2024-05-01 12:34:56.1234567890",
        "2024-05-01 12:34:60",
        "2024-13-01 00:00:00",
        "2024-01-32 00:00:00",
        "0000-01-01 00:00:00",
        "9999-12-31 24:00:00",
        "2024-05-01 24:00:01",
        " 2024-05-01 12:34:56",
        "٢٠٢٤-05-01 12:34:56",
        "",
    ],
)
def test_not_a_sql_timestamp(text: str) -> None:
    assert not_read(NTZ, f'"{text}"').startswith(f'field a: "{text}" cannot be read as TIMESTAMP_NTZ: ')
    assert "cannot be read as TIMESTAMP:" in not_read(INSTANT, f'"{text}"')


def test_a_local_timestamp_takes_no_time_zone() -> None:
    for zone in ("Z", "+02:00"):
        assert "cannot be read as TIMESTAMP_NTZ" in not_read(NTZ, f'"2024-05-01 12:34:56{zone}"')


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-05-01T12:34:56.5", datetime(2024, 5, 1, 12, 34, 56, 500000)),
        ("2024-05-01t12:34:56", datetime(2024, 5, 1, 12, 34, 56)),
        ("2024-05-01T12:34", datetime(2024, 5, 1, 12, 34)),
    ],
)
def test_iso_timestamps(text: str, expected: datetime) -> None:
    assert value(NTZ, f'"{text}"', timestamp_format="ISO-8601") == expected
    assert value(INSTANT, f'"{text}Z"', timestamp_format="ISO-8601") == expected.replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2024-05-01 12:34:56", "expected yyyy-MM-ddTHH:mm:ss[.fraction]"),
        ("2024-05-01T12", "expected yyyy-MM-ddTHH:mm:ss[.fraction]"),
        ("2023-02-29T00:00:00", "day is out of range for month"),
        ("2024-05-01T24:00:00", "no such time of day"),
    ],
)
def test_not_an_iso_timestamp(text: str, why: str) -> None:
    assert why in not_read(NTZ, f'"{text}"', timestamp_format="ISO-8601")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-05-01 12:00:00Z", datetime(2024, 5, 1, 12)),
        ("2024-05-01 12:00:00+02:00", datetime(2024, 5, 1, 10)),
        ("2024-05-01 12:00:00.5-0230", datetime(2024, 5, 1, 14, 30, 0, 500000)),
        ("2024-05-01 12:00:00+02", datetime(2024, 5, 1, 10)),
        ("2024-05-01 12:00:00", datetime(2024, 5, 1, 10)),
        ("2024-03-31 02:30:00", datetime(2024, 3, 31, 1, 30)),  # skipped: an hour later
        ("2024-10-27 02:30:00", datetime(2024, 10, 27, 0, 30)),  # twice: the first
        ("2100-07-01 12:00:00", datetime(2100, 7, 1, 10)),
        ("2100-01-01 12:00:00.000001", datetime(2100, 1, 1, 11, microsecond=1)),
    ],
)
def test_instants_and_the_time_zone_of_text_without_one(text: str, expected: datetime) -> None:
    assert value(BERLIN, f'"{text}"').astimezone(UTC) == expected.replace(tzinfo=UTC)


def test_instants_in_a_zone_that_is_an_offset() -> None:
    assert value(pa.timestamp("us", "+02:00"), '"2024-05-01 12:00:00"') == datetime(2024, 5, 1, 10, tzinfo=UTC)


def test_offsets_beyond_a_day_are_errors() -> None:
    for zone in ("+24:00", "+01:60"):
        assert "cannot be read as TIMESTAMP" in not_read(INSTANT, f'"2024-05-01 12:00:00{zone}"')
    assert "outside the years" in not_read(INSTANT, '"0001-01-01 00:00:00+00:01"')


def test_all_kinds_of_instants_in_one_batch() -> None:
    texts = ["2024-05-01 12:00:00Z", "2024-05-01 12:00:00", "2024-05-01 12:00:00+01:00", "2024-05-01T12:00:00", None]
    messages = [b"{}" if text is None else f'{{"a":"{text}"}}'.encode() for text in texts]
    decoded = decode(BERLIN, *messages)
    assert [None if v is None else v.astimezone(UTC).hour for v in decoded.rows.column(0).to_pylist()] == [
        12,
        10,
        11,
        None,
    ]
    assert [error.index for error in decoded.errors] == [3]
