from __future__ import annotations

import pyarrow as pa
import pytest

from millrace.source.reader.decode import in_time_zone
from millrace.spark.time_zone import session_time_zone, to_arrow_time_zone


def columns(zone: str) -> pa.Schema:
    instant = pa.timestamp("us", zone)
    return pa.schema(
        [
            pa.field("a", instant, nullable=False),
            pa.field("b", pa.struct([pa.field("c", pa.list_(pa.field("element", instant, nullable=False)))])),
            pa.field("d", pa.map_(instant, pa.field("value", pa.list_(instant), nullable=False))),
            pa.field("e", pa.timestamp("us")),
            pa.field("f", pa.string(), nullable=False),
        ]
    )


def test_instants_are_in_the_zone_however_deep_and_all_else_stays() -> None:
    assert in_time_zone(columns("UTC"), "Europe/Berlin") == columns("Europe/Berlin")
    assert in_time_zone(columns("UTC"), "UTC") == columns("UTC")


def test_instants_of_a_zone_are_those_of_another() -> None:
    value = {"a": 0, "b": {"c": [1]}, "d": [(2, [3])], "e": 4, "f": "x"}
    rows = pa.RecordBatch.from_pylist([value], schema=columns("Europe/Berlin"))
    assert rows.cast(columns("UTC")) == pa.RecordBatch.from_pylist([value], schema=columns("UTC"))


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


def test_without_a_session_the_zone_is_the_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    assert session_time_zone() == "Asia/Kolkata"
