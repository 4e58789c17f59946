"""SQL on Kafka: scripts, streams that go on, views, statement sets, kept definitions, catalogs."""

from __future__ import annotations

import json

import pytest

from millrace.streams import SOURCE_EVOLUTION
from millrace_sql import SqlError, TableEnvironment
from support.kafka import consume, produce
from support.waiting import PATIENCE_S

ORDERS = [{"id": 1, "country": "de", "amount": 60.0}, {"id": 2, "country": "fr", "amount": 120.0}]
COLUMNS = "id BIGINT, country STRING, amount DOUBLE"


@pytest.fixture
def orders(make_topic, broker):
    topic = make_topic(2)
    produce_orders(broker, topic, ORDERS)
    return topic


@pytest.fixture
def env(spark):
    yield TableEnvironment(spark)
    for query in spark.streams.active:
        query.stop()


def produce_orders(broker, topic, rows):
    produce(broker.bootstrap_servers, topic, [{"value": json.dumps(row).encode()} for row in rows])


def table(broker, name, topic, columns=COLUMNS, **options):
    with_ = {"connector": "kafka", "topic": topic, "properties.bootstrap.servers": broker.bootstrap_servers}
    with_ |= {"format": "json", "scan.startup.mode": "earliest-offset", **options}
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in with_.items())
    return f"CREATE TABLE {name} ({columns}) WITH ({pairs})"


def values(broker, topic):
    return sorted((json.loads(message.value()) for message in consume(broker.bootstrap_servers, topic)), key=str)


def run_to_here(result):
    """Let a stream write what is there, and end it."""
    result.query.processAllAvailable()
    result.get_job_client().cancel().result()


def test_a_batch_goes_from_topic_to_topic(env, broker, orders, make_topic):
    large = make_topic()
    results = env.execute_script(
        f"""
        -- pasted from the reference, but for the address
        SET 'execution.runtime-mode' = 'batch';
        {table(broker, "orders", orders, COLUMNS + ", p INT METADATA FROM 'partition' VIRTUAL, net AS amount / 1.2")};
        {table(broker, "large", large, "id BIGINT, net DOUBLE")};
        INSERT INTO large SELECT id, net FROM orders WHERE amount > 100 /* in euros */;
        SELECT id, country, p >= 0 AS has_partition FROM orders ORDER BY id
        """
    )
    assert values(broker, large) == [{"id": 2, "net": 100.0}]
    assert [tuple(row) for row in results[-1].collect()] == [(1, "de", True), (2, "fr", True)]


def test_a_script_that_runs_again_goes_on(spark, broker, orders, make_topic, tmp_path):
    copies = make_topic()
    script = f"""
        SET 'execution.checkpointing.dir' = '{tmp_path}/checkpoints';
        {table(broker, "orders", orders)};
        {table(broker, "copies", copies, "id BIGINT")};
        INSERT INTO copies SELECT id FROM orders;
        """
    for run in range(3):
        # Each run has an environment of its own, as a session has that starts the script again
        run_to_here(TableEnvironment(spark).execute_script(script)[-1])
        assert values(broker, copies) == [{"id": number} for number in range(1, 3 + run)]
        produce_orders(broker, orders, [{"id": 3 + run}])


def test_a_bounded_stream_ends_by_itself(env, broker, orders, capsys):
    env.execute_sql(table(broker, "orders", orders, **{"scan.bounded.mode": "latest-offset"}))
    env.execute_sql("SELECT id, country FROM orders /*+ OPTIONS('scan.startup.mode' = 'earliest-offset') */").print()
    printed = capsys.readouterr().out.splitlines()
    assert printed[-1] == "Received a total of 2 rows"
    assert sorted(line.split("|")[1:3] for line in printed if "+I" in line) == [
        [" +I ", f" {number:>20} "] for number in (1, 2)
    ]


def changes_to_upserts(broker, changes, upserts, tmp_path) -> str:
    """Return a script that creates a table of changes by `id`, and one of upserts."""
    keyed = f"{COLUMNS}, PRIMARY KEY (id) NOT ENFORCED"
    upsert = table(broker, "large", upserts, keyed, **{"connector": "upsert-kafka", "key.format": "json"})
    upsert = upsert.replace("'format'", "'value.format'").replace(", 'scan.startup.mode' = 'earliest-offset'", "")
    return f"""
        SET 'execution.checkpointing.dir' = '{tmp_path}/checkpoints';
        {table(broker, "changes", changes, keyed, format="debezium-json")};
        {upsert}
        """


def test_a_row_that_leaves_a_filter_is_deleted(env, broker, make_topic, tmp_path):
    changes, large = make_topic(), make_topic(2)
    rows = [{"id": number, "country": "de", "amount": 200.0} for number in range(3)]
    # The first row leaves the filter, the second one stays, the third one is deleted
    smaller, larger = ({**rows[0], "amount": 1.0}, {**rows[1], "amount": 300.0})
    messages = [{"op": "c", "before": None, "after": row} for row in rows]
    messages += [{"op": "u", "before": rows[0], "after": smaller}, {"op": "u", "before": rows[1], "after": larger}]
    messages += [{"op": "d", "before": rows[2], "after": None}]
    produce(broker.bootstrap_servers, changes, [{"value": json.dumps(message).encode()} for message in messages])
    env.execute_script(changes_to_upserts(broker, changes, large, tmp_path))
    run_to_here(env.execute_sql("INSERT INTO large SELECT * FROM changes WHERE amount > 100"))
    latest = {message.key(): message.value() for message in consume(broker.bootstrap_servers, large)}
    assert {json.loads(key)["id"]: value and json.loads(value)["amount"] for key, value in latest.items()} == {
        0: None,
        1: 300.0,
        2: None,
    }


def test_an_update_that_changes_the_key_deletes_the_old_row(env, broker, make_topic, tmp_path):
    changes, copy = make_topic(), make_topic(2)
    rows = [{"id": number, "country": "de", "amount": 1.0} for number in range(3)]
    updates = [(None, rows[0]), (None, rows[1]), (rows[0], rows[2]), (rows[1], {**rows[1], "amount": 2.0})]
    messages = [{"op": "u" if before else "c", "before": before, "after": after} for before, after in updates]
    produce(broker.bootstrap_servers, changes, [{"value": json.dumps(message).encode()} for message in messages])
    env.execute_script(changes_to_upserts(broker, changes, copy, tmp_path))

    run_to_here(env.execute_sql("INSERT INTO large SELECT * FROM changes"))

    latest = {message.key(): message.value() for message in consume(broker.bootstrap_servers, copy)}
    amounts = {json.loads(key)["id"]: value and json.loads(value)["amount"] for key, value in latest.items()}
    assert amounts == {0: None, 1: 2.0, 2: 1.0}


def test_a_stream_sees_the_rows_of_an_upsert_table_and_reads_what_is_new_in_it(
    spark, broker, orders, make_topic, tmp_path
):
    rates, rated = make_topic(2), make_topic()
    upsert = {"connector": "upsert-kafka", "key.format": "json", "value.format": "json"}
    columns = "country STRING, rate DOUBLE NOT NULL, percent AS rate * 100, PRIMARY KEY (country) NOT ENFORCED"
    created = table(broker, "rates", rates, columns, **upsert)
    created = created.replace("'format' = 'json', ", "").replace("'scan.startup.mode' = 'earliest-offset', ", "")
    script = f"""
        SET 'execution.checkpointing.dir' = '{tmp_path}';
        {table(broker, "orders", orders, f"{COLUMNS}, at AS PROCTIME()")};
        {created};
        {table(broker, "rated", rated, "id BIGINT, percent DOUBLE")};
        INSERT INTO rated SELECT o.id, r.percent FROM orders AS o
          LEFT JOIN rates FOR SYSTEM_TIME AS OF o.at AS r ON o.country = r.country
        """

    def put(**changes):
        rows = {each: None if rate is None else {"country": each, "rate": rate} for each, rate in changes.items()}
        messages = [
            {"key": json.dumps({"country": each}).encode(), "value": row and json.dumps(row).encode()}
            for each, row in rows.items()
        ]
        produce(broker.bootstrap_servers, rates, messages)

    put(de=0.25, fr=0.5, it=1.0)
    run_to_here(TableEnvironment(spark).execute_script(script)[-1])
    put(fr=None, de=0.75)
    produce_orders(broker, orders, [{"id": number, "country": each} for number, each in ((3, "de"), (4, "fr"))])
    produce_orders(broker, orders, [{"id": 5, "country": "it"}])
    run_to_here(TableEnvironment(spark).execute_script(script)[-1])

    found = {row["id"]: row["percent"] for row in values(broker, rated)}
    assert found == {1: 25.0, 2: 50.0, 3: 75.0, 4: None, 5: 100.0}
    versions = spark.read.parquet(f"{tmp_path}/*/millrace-plan/current-rows-1/version-*").orderBy("batch").collect()
    # The second run has read its two messages, however many micro-batches it took
    assert (versions[-1].rows, versions[-1].changed) == (3, 2)


def test_views_and_statement_sets_of_streams(env, broker, orders, make_topic, tmp_path):
    small, large = make_topic(), make_topic()
    env.execute_script(
        f"""
        SET 'execution.checkpointing.dir' = '{tmp_path}/checkpoints';
        SET 'pipeline.name' = 'split';
        {table(broker, "orders", orders, **{"scan.bounded.mode": "latest-offset"})};
        {table(broker, "small", small, "id BIGINT")};
        {table(broker, "large", large, "id BIGINT")};
        CREATE VIEW rated AS SELECT id, amount > 100 AS is_large FROM orders;
        """
    )
    result = env.execute_sql(
        """EXECUTE STATEMENT SET BEGIN
             INSERT INTO small SELECT id FROM rated WHERE NOT is_large;
             INSERT INTO large SELECT id FROM rated WHERE is_large;
           END"""
    )
    assert sorted(query.name for query in result.queries) == ["split-large", "split-small"]
    result.wait(timeout_ms=int(PATIENCE_S * 1000))
    assert (values(broker, small), values(broker, large)) == ([{"id": 1}], [{"id": 2}])


def test_kept_definitions_are_there_in_the_next_session(spark, broker, orders, tmp_path, monkeypatch):
    store = f"file://{tmp_path}/store"
    monkeypatch.setenv("CLIENT_NAME", "kept")
    first = TableEnvironment(spark, catalog_store=store)
    first.execute_sql(table(broker, "orders", orders, **{"properties.client.id": "${env:CLIENT_NAME}"}))
    first.execute_sql("CREATE VIEW german AS SELECT id FROM orders WHERE country = 'de'")
    second = TableEnvironment(spark, catalog_store=store, config={"execution.runtime-mode": "batch"})
    assert [tuple(row) for row in second.execute_sql("SELECT * FROM german").collect()] == [(1,)]
    monkeypatch.delenv("CLIENT_NAME")
    with pytest.raises(SqlError, match="set the environment variable CLIENT_NAME"):
        second.execute_sql("SELECT * FROM german")


def test_a_catalog_of_topics_has_tables(env, broker, orders):
    env.execute_script(
        f"""
        SET 'execution.runtime-mode' = 'batch';
        CREATE CATALOG topics WITH ('type' = 'kafka', 'properties.bootstrap.servers' = '{broker.bootstrap_servers}');
        USE CATALOG topics
        """
    )
    assert env.get_current_database() == "kafka"
    assert orders in env.list_tables()
    query = f"SELECT id, country FROM topics.kafka.`{orders}` /*+ OPTIONS('scan.startup.mode'='earliest-offset') */"
    assert [tuple(row) for row in env.execute_sql(f"{query} ORDER BY id").collect()] == [(1, "de"), (2, "fr")]
    with pytest.raises(SqlError, match="catalog topics shows what its cluster has, and cannot be changed"):
        env.execute_sql("CREATE TABLE t (id BIGINT) WITH ('connector' = 'print')")


def test_a_table_without_columns_has_those_of_its_messages(env, broker, orders):
    env.execute_sql("SET 'execution.runtime-mode' = 'batch'")
    env.execute_sql(table(broker, "orders", orders, "o BIGINT METADATA FROM 'offset' VIRTUAL"))
    described = {row.name: row.type for row in env.execute_sql("DESCRIBE orders").collect()}
    assert described == {"o": "BIGINT", "id": "BIGINT", "country": "STRING", "amount": "DOUBLE"}
    assert env.sql_query("SELECT sum(id) AS ids FROM orders").collect()[0].ids == 3


@pytest.mark.nightly
def test_a_query_reads_a_table_twice_where_spark_demands_names_of_sources(spark, broker, orders, make_topic):
    session = spark.newSession()
    session.conf.set(SOURCE_EVOLUTION, "true")
    env = TableEnvironment(session)
    ids = make_topic()
    env.execute_script(f"{table(broker, 'orders', orders)}; {table(broker, 'ids', ids, 'id BIGINT')};")
    run_to_here(env.execute_sql("INSERT INTO ids SELECT id FROM orders UNION ALL SELECT id + 10 FROM orders"))
    assert sorted(each["id"] for each in values(broker, ids)) == [1, 2, 11, 12]
