"""Texts that are dates and timestamps."""

from __future__ import annotations

import pytest

from millrace_catalog.inference.time_texts import time_text_reader


@pytest.mark.parametrize(
    ("text", "sql", "iso"),
    [
        ("2020-02-29", "DATE", "DATE"),
        ("2021-02-29", None, None),
        ("0000-01-01", None, None),
        ("2020-13-01", None, None),
        ("2020-1-1", None, None),
        ("12020-01-01", None, None),
        ("2020-12-30 12:13:14", "TIMESTAMP(6)", None),
        ("2020-12-30 12:13:14.123", "TIMESTAMP(6)", None),
        ("2020-12-30 12:13:14.1234567", "TIMESTAMP(9)", None),
        ("2020-12-30 12:13:14.1234567890", None, None),
        ("2020-12-30 12:13:14.", None, None),
        ("2020-12-30 12:13", None, None),
        ("2020-12-30 24:00:00", None, None),
        ("2020-12-30 12:60:00", None, None),
        ("2021-02-29 12:00:00", None, None),
        ("2020-12-30 12:13:14Z", "TIMESTAMP_LTZ(6)", None),
        ("2020-12-30 12:13:14.123+01:00", "TIMESTAMP_LTZ(6)", None),
        ("2020-12-30T12:13", None, "TIMESTAMP(6)"),
        ("2020-12-30T12:13:14.123", None, "TIMESTAMP(6)"),
        ("2020-12-30T12:13Z", None, "TIMESTAMP_LTZ(6)"),
        ("2020-12-30T12:13:14.123456789-0130", None, "TIMESTAMP_LTZ(9)"),
        ("2020-12-30T12:13:14-24:00", None, None),
        ("2020-12-30t12:13:14", None, None),
        ("2020-12-30T12:13:14 Z", None, None),
        ("0001-01-01T00:00:00+14:00", None, None),
        ("0001-01-01T00:00:00Z", None, "TIMESTAMP_LTZ(6)"),
        ("２０２０-12-30", None, None),  # noqa: RUF001 - digits that are not ASCII
        ("12:13:14", None, None),
        ("", None, None),
    ],
)
def test_a_text_is(text: str, sql: str | None, iso: str | None) -> None:
    found = [time_text_reader(iso=iso)(text) for iso in (False, True)]
    assert [type_ and str(type_) for type_ in found] == [name and f"{name} NOT NULL" for name in (sql, iso)]
