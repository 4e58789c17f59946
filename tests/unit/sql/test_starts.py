"""Statements that Spark would refuse when they start are refused before."""

from __future__ import annotations

import pytest

from millrace_sql import SqlError, TableEnvironment

CLICKS = "CREATE TABLE {} (`timestamp` TIMESTAMP_LTZ(3), `value` BIGINT) WITH ('connector' = 'rate')"
OUTER_JOIN = "SELECT a.`value` FROM clicks AS a LEFT JOIN views AS b ON a.`value` = b.`value`"
WINDOWS = """SELECT window(`timestamp`, '1 hour').start AS s, COUNT(*) AS n FROM clicks
    GROUP BY window(`timestamp`, '1 hour')"""
REFUSAL = "Spark cannot analyse the query: Stream-stream LeftOuter join"


@pytest.fixture(params=[False, True], ids=["a run", "a dry run"])
def env(spark, request):
    made = TableEnvironment(spark, dry_run=request.param)
    for name in ("clicks", "views"):
        made.execute_sql(CLICKS.format(name))
    made.execute_sql("CREATE TABLE numbers (n BIGINT) WITH ('connector' = 'blackhole')")
    made.execute_sql("CREATE TABLE texts (n STRING, m INT) WITH ('connector' = 'blackhole')")
    yield made
    assert not spark.streams.active


@pytest.mark.parametrize(
    "statement",
    [
        "{}",
        "EXPLAIN {}",
        "INSERT INTO numbers {}",
        "EXPLAIN INSERT INTO numbers {}",
        "CREATE TABLE copied WITH ('connector' = 'blackhole') AS {}",
        # The first would have started
        "EXECUTE STATEMENT SET BEGIN INSERT INTO numbers SELECT `value` FROM clicks; INSERT INTO numbers {}; END",
    ],
)
def test_a_stream_that_spark_cannot_run_is_refused_at_once(env, statement):
    before = env.list_tables()
    with pytest.raises(SqlError, match=REFUSAL):
        env.execute_sql(statement.format(OUTER_JOIN))
    assert env.list_tables() == before


def test_a_table_that_would_be_replaced_stays_where_its_query_cannot_run(env):
    before = env.execute_sql("SHOW CREATE TABLE texts").collect()
    with pytest.raises(SqlError, match=REFUSAL):
        env.execute_sql(f"CREATE OR REPLACE TABLE texts WITH ('connector' = 'blackhole') AS {OUTER_JOIN}")
    assert list(env.execute_sql("SHOW CREATE TABLE texts").collect()) == list(before)


def test_a_plan_has_the_refusal_of_the_start(spark):
    env = TableEnvironment(spark, dry_run=True)
    script = f"{CLICKS.format('clicks')}; {CLICKS.format('views')}; {OUTER_JOIN}"
    with pytest.raises(SqlError, match=REFUSAL):
        env.plan_sql(script)


def test_explain_has_the_refusal_of_columns_that_do_not_fit(env):
    with pytest.raises(SqlError, match="table texts takes 2 columns"):
        env.explain_sql("INSERT INTO texts SELECT `value` FROM clicks")
    with pytest.raises(SqlError, match="column m: the query has timestamp"):
        env.explain_sql("INSERT INTO texts SELECT 'a', `timestamp` FROM clicks")


def test_a_view_that_is_no_stream_by_itself_is_a_warning(env, caplog):
    env.execute_sql(f"CREATE VIEW joined AS {OUTER_JOIN}")
    assert "view joined: a stream cannot read it as it stands: " + REFUSAL in caplog.text
    caplog.clear()
    env.execute_sql("CREATE VIEW pairs AS SELECT `value` FROM clicks WHERE `value` % 2 = 0")
    assert not caplog.records


def test_a_watermark_is_part_of_the_check(env):
    env.execute_sql(
        "CREATE TABLE timed (`timestamp` TIMESTAMP_LTZ(3), `value` BIGINT, WATERMARK FOR `timestamp` AS `timestamp`) "
        "WITH ('connector' = 'rate')"
    )
    assert "WindowAggregate" in env.explain_sql(WINDOWS.replace("clicks", "timed"))


def test_a_rewritten_query_of_maps_with_numbers_as_keys_is_checked(env):
    env.execute_sql(
        "CREATE TABLE counted (id INT, m MAP<INT, ROW<a MAP<BIGINT, STRING>>>, PRIMARY KEY (id) NOT ENFORCED) WITH "
        "('connector' = 'upsert-kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'localhost:1', "
        "'key.format' = 'json', 'value.format' = 'json')"
    )
    assert "GroupAggregate" in env.explain_sql("SELECT id, MAX(m[1].a[2L]) AS x FROM counted GROUP BY id")
