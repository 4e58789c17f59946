"""Jobs that were written for Flink run as they are and end with the same tables, or are refused with what to do."""

from __future__ import annotations

import json
import re
import sys
from contextlib import suppress

import pytest

from millrace_sql import SqlError, TableEnvironment
from support.cases import CASES
from support.kafka import consume, produce
from support.sql_jobs import JOBS, USER_FUNCTIONS
from support.waiting import wait_until

pytestmark = [pytest.mark.cases, pytest.mark.nightly]

CUSTOMERS = {"url": "jdbc:derby:memory:jobs;create=true", "table-name": "customers"}


@pytest.fixture
def env(spark, tmp_path, monkeypatch):
    (tmp_path / "rev_udf.py").write_text(USER_FUNCTIONS)
    monkeypatch.syspath_prepend(str(tmp_path))
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    made = TableEnvironment(spark)
    made.execute_sql(f"SET 'execution.checkpointing.dir' = '{tmp_path}/checkpoints'")
    made.execute_sql("SET 'parallelism.default' = '2'")
    yield made
    for query in spark.streams.active:
        query.stop()
    sys.modules.pop("rev_udf", None)


@pytest.fixture
def customers(spark):
    rows = spark.createDataFrame([(7, "Ann")], "cid INT, name STRING")
    rows.write.jdbc(CUSTOMERS["url"], CUSTOMERS["table-name"], mode="overwrite")


def script_of(name, topics, servers):
    text = (CASES / "sql-jobs" / f"{name}.sql").read_text("utf-8")
    values = {**topics, "BOOT": servers, "jdbc": CUSTOMERS["url"]}
    return re.sub(r"\$\{(\w+)\}", lambda match: values[match[1]], text)


def written(servers, topic):
    """Return the rows of a topic, the last one of each key."""
    rows, keyed = [], {}
    for message in consume(servers, topic):
        value = None if message.value() is None else json.loads(message.value())
        if message.key() is None:
            rows.append(value)
        else:
            keyed[message.key()] = value
    return sorted([*rows, *(row for row in keyed.values() if row is not None)], key=json.dumps)


@pytest.mark.parametrize("name", JOBS)
@pytest.mark.usefixtures("customers")
def test_a_job_ends_with_the_tables_of_flink_or_is_refused(env, broker, make_topic, name):
    job, topics = JOBS[name], {"out": make_topic()}
    for topic, values in job.topics.items():
        topics[topic] = make_topic()
        keys = [
            json.dumps({key: value[key] for key in job.keys}) if job.keys and topic == "rates" else None
            for value in values
        ]
        texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
        produce(
            broker.bootstrap_servers,
            topics[topic],
            [{"value": text, "key": key} for text, key in zip(texts, keys, strict=True)],
        )
    script, refusal = script_of(name, topics, broker.bootstrap_servers), ""
    try:
        *_, result = env.execute_script(script)
    except SqlError as error:
        refusal = str(error)
    assert (bool(refusal), bool(re.search(job.refusal, refusal))) == (bool(job.refusal), True), refusal
    if refusal:
        return
    expected = sorted(job.rows, key=json.dumps)
    found = []

    def is_over():
        found[:] = written(broker.bootstrap_servers, topics["out"])
        return found == expected or any(query.exception() for query in result.queries)

    with suppress(AssertionError):
        wait_until(is_over, "the rows of the job")
    assert [query.exception() for query in result.queries] == [None]
    assert found == expected
