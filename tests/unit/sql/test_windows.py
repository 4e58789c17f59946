"""Windows of the reference's table functions, on Spark."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from millrace_sql import SqlError, TableEnvironment
from support.waiting import PATIENCE_S

START = datetime(2024, 1, 1, tzinfo=UTC)
VISITS = [(0, "a"), (2, "a"), (10, "a"), (3, "b"), (63, "z")]
"""Minutes after the start, and pages."""

SESSIONS = """
    SELECT s.window_start, window_end AS ended, page, COUNT(*) AS visits
    FROM TABLE(SESSION(TABLE visits PARTITION BY page, DESCRIPTOR(ts), INTERVAL '5' MINUTES)) AS s
    GROUP BY window_start, `window_end`, page HAVING s.window_end > TIMESTAMP '2000-01-01 00:00:00'"""


@pytest.fixture
def env(spark, tmp_path):
    made = TableEnvironment(spark)
    rows = [(START + timedelta(minutes=minute), page) for minute, page in VISITS]
    spark.createDataFrame(rows, "ts TIMESTAMP, page STRING").coalesce(1).write.parquet(str(tmp_path / "visits"))
    made.execute_sql(f"""
        CREATE TABLE visits (ts TIMESTAMP_LTZ(3), page STRING, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
        WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/visits', 'format' = 'parquet')""")
    return made


@pytest.fixture
def batch(env):
    env.execute_sql("SET 'execution.runtime-mode' = 'batch'")
    yield env
    env.execute_sql("RESET")


def minutes(row):
    return tuple(
        (value.astimezone(UTC) - START).total_seconds() / 60 if isinstance(value, datetime) else value for value in row
    )


def rows(env, query):
    with env.execute_sql(query).collect() as found:
        return sorted(minutes(row) for row in found)


def test_sessions_of_a_key_in_a_batch(batch):
    assert rows(batch, SESSIONS) == [(0, 7, "a", 2), (3, 8, "b", 1), (10, 15, "a", 1), (63, 68, "z", 1)]


def test_sessions_without_a_key_in_a_batch(batch):
    query = """SELECT window_end, COUNT(*) FROM TABLE(SESSION(TABLE visits, DESCRIPTOR(ts), INTERVAL '5' MINUTES))
        GROUP BY window_start, window_end"""
    assert rows(batch, query) == [(8, 3), (15, 1), (68, 1)]


CUMULATING = """SELECT window_start, window_end, COUNT(*) FROM TABLE(
    CUMULATE(TABLE visits, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '15' MINUTES))
    GROUP BY window_start, window_end"""
CASCADE = """WITH small AS (
        SELECT page, window_time AS ended, COUNT(*) AS visits
        FROM TABLE(TUMBLE(TABLE visits, DESCRIPTOR(ts), INTERVAL '2' MINUTES))
        GROUP BY window_start, window_end, window_time, page)
    SELECT window_start, window_end, page, SUM(visits) FROM TABLE(TUMBLE(TABLE small, DESCRIPTOR(ended),
    INTERVAL '4' MINUTES)) GROUP BY window_start, window_end, page"""
CUMULATED = [(0, 5, 3), (0, 10, 3), (0, 15, 4)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param(SESSIONS, [(0, 7, "a", 2), (3, 8, "b", 1), (10, 15, "a", 1)], id="sessions"),
        pytest.param(CUMULATING, CUMULATED, id="cumulating windows, at the end of each"),
        pytest.param(CASCADE, [(0, 4, "a", 2), (0, 4, "b", 1), (8, 12, "a", 1)], id="windows of window_time"),
    ],
)
def test_windows_of_a_stream_end_with_the_watermark(env, tmp_path, query, expected):
    frame, found = env.sql_query(query), []
    writer = frame.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
    running = writer.foreachBatch(lambda batch, _: found.extend(map(minutes, batch.collect()))).start()
    assert running.awaitTermination(PATIENCE_S)
    assert sorted(found) == expected


@pytest.mark.parametrize("statement", ["{}", "EXPLAIN {}", "INSERT INTO nothing {}"])
def test_windows_of_a_stream_that_ends_are_refused_since_its_last_ones_would_not_come(env, statement):
    env.execute_sql(
        "CREATE TABLE nothing (s TIMESTAMP, e TIMESTAMP, p STRING, n BIGINT) WITH ('connector' = 'blackhole')"
    )
    statement = statement.format(SESSIONS)
    with pytest.raises(SqlError, match=r"the last windows of a stream that ends would never come, .*: SET 'execution"):
        env.execute_sql(statement)
    env.execute_sql("SET 'execution.runtime-mode' = 'batch'")
    env.execute_sql(statement)


def test_a_bounded_stream_tells_that_it_reads_nothing_again(env, tmp_path, caplog):
    env.execute_sql(f"SET 'execution.checkpointing.dir' = '{tmp_path}/checkpoints'")
    env.execute_sql("CREATE TABLE pages (page STRING) WITH ('connector' = 'blackhole')")
    told = []
    for _ in range(2):
        caplog.clear()
        env.execute_sql("INSERT INTO pages SELECT page FROM visits").wait(timeout_ms=int(PATIENCE_S * 1000))
        told.append("has run before, and reads only what its tables have got since then" in caplog.text)
    assert told == [False, True]


def test_cumulating_windows_hold_all_steps_to_the_largest(batch):
    query = """SELECT window_start, window_end, COUNT(*) FROM TABLE(
            CUMULATE(TABLE visits, DESCRIPTOR(ts), INTERVAL '2' MINUTES, INTERVAL '6' MINUTES))
        WHERE page <> 'z' GROUP BY window_start, window_end"""
    assert rows(batch, query) == [(0, 2, 1), (0, 4, 3), (0, 6, 3), (6, 12, 1)]
