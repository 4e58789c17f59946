"""Windows begin at local times: in the session's time zone, or those of a TIMESTAMP without one."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from millrace_sql import TableEnvironment
from millrace_sql.errors import SqlError
from millrace_sql.planner.dialect.time_zones import has_windows_of_utc, is_utc
from support.planned_sql import plan
from support.waiting import PATIENCE_S

DAYS = """SELECT window_start, window_end, COUNT(*) AS n FROM TABLE({}(TABLE {}, DESCRIPTOR(ts), {}))
    GROUP BY window_start, window_end"""
HOUR_MS = 3_600_000


@pytest.mark.parametrize(
    ("zone", "aligned_ms"),
    [("Asia/Kolkata", HOUR_MS // 2), ("Europe/Berlin", HOUR_MS), ("GMT+05:45", HOUR_MS // 4), ("-08:00", HOUR_MS)],
)
def test_windows_of_a_zone_are_those_of_utc_while_they_divide_its_offsets(zone: str, aligned_ms: int) -> None:
    assert has_windows_of_utc(zone, aligned_ms)
    assert has_windows_of_utc(zone, HOUR_MS) is (aligned_ms == HOUR_MS)
    assert not has_windows_of_utc(zone, 24 * HOUR_MS)
    assert not is_utc(zone)


@pytest.mark.parametrize("zone", ["UTC", "Etc/UTC", "Z", "GMT", "+00:00", "UTC+0"])
def test_utc_has_many_names(zone: str) -> None:
    assert is_utc(zone)


def test_an_unknown_zone_has_no_windows_of_utc() -> None:
    assert not has_windows_of_utc("Mars/Olympus", 1000)


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize(
    "window", ["window(ts, '1 day')", "window(ts, INTERVAL '1' DAY)", "window(ts, '2 days', '1 day')"]
)
def test_sparks_own_function_is_refused_where_its_windows_begin_at_other_times(window: str, streaming: bool) -> None:
    query = f"SELECT {window}, COUNT(*) FROM orders GROUP BY {window}"

    with pytest.raises(SqlError, match=r"multiples of UTC, not of Asia/Shanghai: write TABLE\((TUMBLE|HOP)\(TABLE t"):
        plan(query, streaming=streaming, time_zone="Asia/Shanghai")

    plan(query, streaming=streaming)
    plan(query.replace("day", "hour").replace("DAY", "HOUR"), streaming=streaming, time_zone="Asia/Shanghai")
    plan(DAYS.format("TUMBLE", "orders", "INTERVAL '1' DAY"), streaming=streaming, time_zone="Asia/Shanghai")


@pytest.mark.parametrize(
    ("table", "zone", "is_staged"), [("orders", "UTC", 0), ("orders", "Asia/Tokyo", 1), ("local", "UTC", 1)]
)
def test_windows_of_local_times_have_a_stage_of_their_own(table: str, zone: str, is_staged: int) -> None:
    query = DAYS.format("HOP", table, "INTERVAL '1' HOUR, INTERVAL '1' DAY")

    planned = plan(query, time_zone=zone)

    assert len(planned._stages) == is_staged
    assert str(planned.changelog_mode) == "[I]"
    assert not plan(query, time_zone=zone, streaming=False)._stages


@pytest.mark.parametrize(
    "query",
    [
        "SELECT window(ts, '1 hour'), COUNT(*) FROM local GROUP BY window(ts, '1 hour')",
        """SELECT COUNT(*) FROM TABLE(SESSION(TABLE local, DESCRIPTOR(ts), INTERVAL '1' DAY))
        GROUP BY window_start, window_end""",
    ],
)
def test_other_windows_of_a_local_time_are_refused_in_a_stream(query: str) -> None:
    with pytest.raises(SqlError, match=r"of ts, a TIMESTAMP without a time zone, .*TABLE\(TUMBLE.*TIMESTAMP_LTZ"):
        plan(query)

    plan(query, streaming=False)


TIMES = [
    "2021-03-27T22:59",
    # Clocks in Berlin go forward on the day that begins here, and ends with the next time
    "2021-03-27T23:00",
    "2021-03-28T21:59",
    "2021-03-28T22:00",
    # Both are half past two
    "2021-10-31T00:30",
    "2021-10-31T01:30",
    "2030-01-01T12:00",
]
LOCAL_DAYS = [("2021-03-27", 1), ("2021-03-28", 2), ("2021-03-29", 1), ("2021-10-31", 2)]
"""The days of Berlin that are over, with their rows."""

STARTS = ["2021-03-26 23:00", "2021-03-27 23:00", "2021-03-28 22:00", "2021-10-30 22:00"]
"""Their first moments, in UTC."""


@pytest.fixture
def env(spark, tmp_path):
    made = TableEnvironment(spark, config={"table.local-time-zone": "Europe/Berlin"})
    rows = [(datetime.fromisoformat(time).replace(tzinfo=UTC),) for time in TIMES]
    frame = spark.createDataFrame(rows, "ts TIMESTAMP").coalesce(1)
    local = "CAST(from_utc_timestamp(ts, 'Europe/Berlin') AS TIMESTAMP_NTZ) AS ts"
    for name, type_, column in (("zoned", "TIMESTAMP_LTZ(3)", "ts"), ("local", "TIMESTAMP(3)", local)):
        frame.selectExpr(column).write.parquet(f"{tmp_path}/{name}")
        made.execute_sql(f"""CREATE TABLE {name} (ts {type_}, WATERMARK FOR ts AS ts) WITH (
            'connector' = 'filesystem', 'path' = '{tmp_path}/{name}', 'format' = 'parquet')""")
    return made


@pytest.fixture
def rows_of(env, tmp_path):
    """Return the rows of a query, as a batch or as a stream."""

    def collect(query: str, *, streaming: bool) -> list:
        env.execute_sql(f"SET 'execution.runtime-mode' = '{'streaming' if streaming else 'batch'}'")
        frame = env.sql_query(query)
        if not streaming:
            return sorted(frame.collect())
        rows: list = []
        writer = frame.writeStream.option("checkpointLocation", f"{tmp_path}/checkpoint").trigger(availableNow=True)
        assert writer.foreachBatch(lambda batch, _: rows.extend(batch.collect())).start().awaitTermination(PATIENCE_S)
        return sorted(rows)

    return collect


@pytest.mark.parametrize("streaming", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_a_day_of_a_zone_has_23_to_25_hours(streaming, rows_of):
    rows = rows_of(
        """SELECT unix_seconds(window_start) AS s, unix_seconds(window_end) AS e, COUNT(*) AS n
        FROM TABLE(TUMBLE(TABLE zoned, DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY window_start, window_end""",
        streaming=streaming,
    )

    starts = [datetime.fromtimestamp(row.s, UTC).strftime("%Y-%m-%d %H:%M") for row in rows]
    assert [*zip(starts, (row.n for row in rows), strict=True)][:4] == [
        *zip(STARTS, (count for _, count in LOCAL_DAYS), strict=True)
    ]
    assert [(row.e - row.s) // 3600 for row in rows][:4] == [24, 23, 24, 25]


@pytest.mark.parametrize("streaming", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_an_hour_of_a_zone_with_half_hours_begins_between_those_of_utc(env, streaming, rows_of):
    env.execute_sql("SET 'table.local-time-zone' = 'Asia/Kolkata'")

    rows = rows_of(
        """SELECT unix_seconds(window_start) AS s, unix_seconds(window_end) AS e, COUNT(*) AS n
        FROM TABLE(TUMBLE(TABLE zoned, DESCRIPTOR(ts), INTERVAL '1' HOUR)) GROUP BY window_start, window_end""",
        streaming=streaming,
    )

    windows = [(*(datetime.fromtimestamp(second, UTC) for second in (row.s, row.e)), row.n) for row in rows]
    assert [(f"{start:%m-%d %H:%M}", f"{end:%m-%d %H:%M}", count) for start, end, count in windows][:5] == [
        ("03-27 22:30", "03-27 23:30", 2),
        ("03-28 21:30", "03-28 22:30", 2),
        ("10-31 00:30", "10-31 01:30", 1),
        ("10-31 01:30", "10-31 02:30", 1),
        *([] if streaming else [("01-01 11:30", "01-01 12:30", 1)]),
    ]


def test_days_of_a_timestamp_without_a_zone_end_with_the_watermark(rows_of):
    rows = rows_of(DAYS.format("TUMBLE", "local", "INTERVAL '1' DAY"), streaming=True)

    assert [(f"{row.window_start:%Y-%m-%d %H:%M}", row.n) for row in rows] == [
        (f"{day} 00:00", count) for day, count in LOCAL_DAYS
    ]


def test_cumulating_windows_begin_with_the_day_of_the_zone(rows_of):
    query = DAYS.format("CUMULATE", "zoned", "INTERVAL '12' HOUR, INTERVAL '1' DAY")

    rows = rows_of(f"SELECT DISTINCT unix_seconds(window_start) AS s FROM ({query})", streaming=False)

    assert [datetime.fromtimestamp(row.s, UTC).strftime("%Y-%m-%d %H:%M") for row in rows][:4] == STARTS
