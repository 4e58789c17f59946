from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
import tzlocal

from millrace.spark.reader_base import session_time_zone
from millrace.spark.time_zones import to_arrow_time_zone


@pytest.mark.parametrize(
    ("zone", "expected"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        ("UTC", "UTC"),
        ("Z", "UTC"),
        ("+02:00", "+02:00"),
        ("-8", "-08:00"),
        ("GMT+1", "+01:00"),
        ("UTC+05:30", "+05:30"),
        ("+0530", "+05:30"),
    ],
)
def test_names_of_zones(zone: str, expected: str) -> None:
    assert to_arrow_time_zone(zone) == expected
    assert pa.array([0], pa.timestamp("us", expected)).to_pylist()


@pytest.fixture
def in_kolkata() -> Iterator[None]:
    # tzlocal remembers the zone
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "Asia/Kolkata")
        tzlocal.reload_localzone()
        yield
    tzlocal.reload_localzone()


@pytest.mark.usefixtures("in_kolkata")
def test_without_a_session_the_zone_is_the_machines() -> None:
    assert session_time_zone() == "Asia/Kolkata"
