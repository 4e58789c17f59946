"""Columns of type TIME, in batches and streams; Spark has them by a setting that SQL needs not."""

from __future__ import annotations

from datetime import time

import pytest

from millrace_sql import TableEnvironment

SETTING = "spark.sql.timeType.enabled"
QUERY = """SELECT id % 2 AS half, MIN(opens) AS first, COUNT(DISTINCT opens) AS n, ARRAY_AGG(opens) AS a
    FROM shops GROUP BY id % 2"""
TIMES = [time(8, 0), time(9, 30), time(7, 15, 30), time(9, 30)]


@pytest.fixture
def env(spark, tmp_path):
    texts = spark.createDataFrame([(number, str(each)) for number, each in enumerate(TIMES)], "id INT, opens STRING")
    spark.conf.set(SETTING, "true")
    texts.selectExpr("id", "CAST(opens AS TIME(0)) AS opens").coalesce(1).write.parquet(str(tmp_path / "shops"))
    spark.conf.set(SETTING, "false")
    made = TableEnvironment(spark)
    made.execute_sql(f"""CREATE TABLE shops (id INT, opens TIME(0))
        WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/shops', 'format' = 'parquet')""")
    yield made
    assert spark.conf.get(SETTING) == "false"
    spark.conf.unset(SETTING)


@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_times_are_read_and_grouped(env, mode):
    env.execute_sql(f"SET 'execution.runtime-mode' = '{mode}'")
    with env.execute_sql("SELECT opens FROM shops WHERE id < 2").collect() as rows:
        assert [row.opens for row in rows] == TIMES[:2]
    with env.execute_sql(QUERY).collect() as rows:
        groups = {row.half: (row.first, row.n, row.a) for row in rows}
    assert groups == {0: (time(7, 15, 30), 2, [TIMES[0], TIMES[2]]), 1: (time(9, 30), 1, [TIMES[1], TIMES[3]])}
