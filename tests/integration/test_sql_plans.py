"""Plans that EXPLAIN shows, and what they do then: changes of a table in Kafka through queries into other tables."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable

import pytest

from millrace_sql import TableEnvironment
from support.kafka import consume, produce
from support.tiers import nightly_but

ACCOUNTS = "id BIGINT, city STRING, amount BIGINT, PRIMARY KEY (id) NOT ENFORCED"
FILTER = "INSERT INTO rich SELECT id, city, amount FROM accounts WHERE amount > 100"
GROUPS = """INSERT INTO cities SELECT city, COUNT(*) AS accounts, SUM(amount) AS total, MAX(amount) AS most
    FROM accounts GROUP BY city"""
JOIN = """INSERT INTO named SELECT o.id, a.city FROM orders AS o
    LEFT JOIN accounts FOR SYSTEM_TIME AS OF o.at AS a ON o.account = a.id"""

FIRST = {1: ("Rome", 150), 2: ("Rome", 50), 3: ("Oslo", 200), 4: ("Bern", 10)}
# The first row leaves the filter, the second one enters it, the third one moves, the last one of Bern is deleted
LATER = {1: ("Rome", 20), 2: ("Rome", 120), 3: ("Rome", 300), 4: None, 5: ("Oslo", 101)}
RICH = [(2, "Rome", 120), (3, "Rome", 300), (5, "Oslo", 101)]
CITIES = [("Oslo", 1, 101, 101), ("Rome", 3, 440, 300)]


@pytest.fixture
def create(spark, broker, make_topic, tmp_path) -> Callable[..., TableEnvironment]:
    """Create an environment with the tables of these queries; returns it with the topic of each table."""

    def create() -> tuple[TableEnvironment, dict[str, str]]:
        env = TableEnvironment(spark, config={"execution.checkpointing.dir": f"{tmp_path}/checkpoints"})
        topics = {name: make_topic(2) for name in ("accounts", "rich", "cities", "orders", "named")}
        for name, columns in {
            "accounts": ACCOUNTS,
            "rich": ACCOUNTS,
            "cities": "city STRING, accounts BIGINT, total BIGINT, most BIGINT, PRIMARY KEY (city) NOT ENFORCED",
        }.items():
            env.execute_sql(
                f"""CREATE TABLE {name} ({columns}) WITH (
                    'connector' = 'upsert-kafka', 'topic' = '{topics[name]}', 'key.format' = 'json',
                    'value.format' = 'json', 'properties.bootstrap.servers' = '{broker.bootstrap_servers}'
                )"""
            )
        for name, columns in {
            "orders": "id BIGINT, account BIGINT, at AS PROCTIME()",
            "named": "id BIGINT, city STRING",
        }.items():
            env.execute_sql(
                f"""CREATE TABLE {name} ({columns}) WITH (
                    'connector' = 'kafka', 'topic' = '{topics[name]}', 'format' = 'json',
                    'scan.startup.mode' = 'earliest-offset',
                    'properties.bootstrap.servers' = '{broker.bootstrap_servers}'
                )"""
            )
        return env, topics

    yield create
    for query in spark.streams.active:
        query.stop()


@pytest.fixture
def upsert(broker) -> Callable[..., None]:
    """Write rows of accounts, None for a deleted one."""

    def upsert(topic: str, rows: dict[int, tuple[str, int] | None]) -> None:
        messages = []
        for number, row in rows.items():
            value = None if row is None else json.dumps({"id": number, "city": row[0], "amount": row[1]}).encode()
            messages.append({"key": json.dumps({"id": number}).encode(), "value": value})
        produce(broker.bootstrap_servers, topic, messages)

    return upsert


def rows_of(env: TableEnvironment, table: str) -> list[tuple]:
    env.execute_sql("SET 'execution.runtime-mode' = 'batch'")
    rows = sorted(tuple(row) for row in env.sql_query(f"SELECT * FROM {table}").collect())
    env.execute_sql("RESET 'execution.runtime-mode'")
    return rows


def test_a_set_of_a_filter_and_groups_follows_a_table(create, upsert) -> None:
    env, topics = create()
    upsert(topics["accounts"], FIRST)
    both = env.create_statement_set()
    for insert in (FILTER, GROUPS):
        both.add_insert_sql(insert)

    explained = both.explain()
    result = both.execute()
    for query in result.queries:
        query.processAllAvailable()
    upsert(topics["accounts"], LATER)
    for query in result.queries:
        query.processAllAvailable()
    result.get_job_client().cancel().result()

    assert "Calc(select=[id, city, amount], where=[amount > 100], changelogMode=[I,UB,UA,D])" in explained
    assert "select=[city, COUNT(*), SUM(amount), MAX(amount)], changelogMode=[I,UA,D])" in explained
    assert rows_of(env, "rich") == RICH
    assert rows_of(env, "cities") == CITIES


def folded_log(messages) -> list[tuple]:
    """Return the rows that are left of messages of Debezium, by all of their columns."""
    rows: Counter[tuple] = Counter()
    for message in messages:
        change = json.loads(message.value())
        if change["before"] is not None:
            rows[tuple(change["before"].values())] -= 1
            assert rows[tuple(change["before"].values())] >= 0, "a row is taken back that was not there"
        if change["after"] is not None:
            rows[tuple(change["after"].values())] += 1
    return sorted(rows.elements())


def folded_upserts(messages) -> list[tuple]:
    """Return the rows that are left of messages with keys."""
    rows = {message.key(): message.value() for message in messages}
    return sorted(tuple(json.loads(value).values()) for value in rows.values() if value is not None)


KEYED = "'connector' = 'upsert-kafka', 'key.format' = 'json', 'value.format' = 'json'"


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("columns", "options", "fold"),
    [
        ("city STRING, total BIGINT", "'connector' = 'kafka', 'format' = 'debezium-json'", folded_log),
        ("city STRING, total BIGINT, PRIMARY KEY (city, total) NOT ENFORCED", KEYED, folded_upserts),
    ],
    ids=["a change log", "upserts by more than the group"],
)
def test_groups_take_their_old_results_back_where_the_table_needs_it(
    create, upsert, make_topic, broker, columns, options, fold
) -> None:
    env, topics = create()
    # The changes of a group without a key stay in their order in one partition
    topic = make_topic()
    env.execute_sql(
        f"""CREATE TABLE totals ({columns}) WITH (
            'topic' = '{topic}', 'properties.bootstrap.servers' = '{broker.bootstrap_servers}', {options})"""
    )
    query = "SELECT city, SUM(amount) AS total FROM accounts GROUP BY city"

    result = env.execute_sql(f"INSERT INTO totals {query}")
    for rows in (FIRST, LATER):
        upsert(topics["accounts"], rows)
        result.query.processAllAvailable()
    result.get_job_client().cancel().result()

    env.execute_sql("SET 'execution.runtime-mode' = 'batch'")
    expected = sorted(tuple(row) for row in env.sql_query(query).collect())
    assert expected == [(city, total) for city, _, total, _ in CITIES]
    assert fold(consume(broker.bootstrap_servers, topic)) == expected


def test_a_batch_writes_the_same_tables(create, upsert, broker) -> None:
    env, topics = create()
    upsert(topics["accounts"], FIRST)
    upsert(topics["accounts"], LATER)
    env.execute_sql("SET 'execution.runtime-mode' = 'batch'")

    explained = [env.explain_sql(insert) for insert in (FILTER, GROUPS)]
    env.execute_sql(f"EXECUTE STATEMENT SET BEGIN {FILTER}; {GROUPS}; END").wait()

    assert [set(re.findall(r"changelogMode=\[(.*?)\]", each)) for each in explained] == [{"I"}, {"I"}]
    assert rows_of(env, "rich") == RICH
    assert rows_of(env, "cities") == CITIES
    # Each row once: a batch has no changes
    assert len(consume(broker.bootstrap_servers, topics["rich"])) == len(RICH)
    assert len(consume(broker.bootstrap_servers, topics["cities"])) == len(CITIES)


def test_a_stream_joins_the_rows_that_a_table_has_when_they_come(create, upsert, broker) -> None:
    env, topics = create()
    upsert(topics["accounts"], FIRST)

    explained = env.explain_sql(JOIN)
    result = env.execute_sql(JOIN)
    for start, changes in ((0, LATER), (10, {})):
        orders = [json.dumps({"id": start + account, "account": account}).encode() for account in (1, 3, 4, 5)]
        produce(broker.bootstrap_servers, topics["orders"], [{"value": order} for order in orders])
        result.query.processAllAvailable()
        upsert(topics["accounts"], changes)
    result.get_job_client().cancel().result()

    assert "LookupJoin(joinType=[LEFT], where=[o.account = a.id], changelogMode=[I])" in explained
    assert rows_of(env, "named") == [
        *[(1, "Rome"), (3, "Oslo"), (4, "Bern"), (5, None)],
        *[(11, "Rome"), (13, "Rome"), (14, None), (15, "Oslo")],
    ]


def test_a_batch_joins_the_latest_rows(create, upsert, broker) -> None:
    env, topics = create()
    upsert(topics["accounts"], FIRST)
    upsert(topics["accounts"], LATER)
    orders = [json.dumps({"id": account, "account": account}).encode() for account in (1, 3, 4, 5)]
    produce(broker.bootstrap_servers, topics["orders"], [{"value": order} for order in orders])
    env.execute_sql("SET 'execution.runtime-mode' = 'batch'")

    env.execute_sql(JOIN).wait()

    assert rows_of(env, "named") == [(1, "Rome"), (3, "Rome"), (4, None), (5, "Oslo")]


def change(value_format: str, old: dict | None, new: dict | None) -> bytes:
    """Return the message of a change."""
    if value_format == "debezium-json":
        message = {"op": "c" if old is None else "d" if new is None else "u", "before": old, "after": new}
    else:
        kind = "INSERT" if old is None else "DELETE" if new is None else "UPDATE"
        message = {"type": kind, "data": [new or old], "old": [old] if old and new else None}
    return json.dumps(message).encode()


@pytest.mark.parametrize("value_format", nightly_but(["debezium-json", "canal-json"], "debezium-json"))
def test_a_stream_looks_up_the_rows_of_a_change_log(create, make_topic, broker, value_format) -> None:
    env, topics = create()
    log = make_topic(1)
    env.execute_sql(
        f"""CREATE TABLE clients ({ACCOUNTS}) WITH ('connector' = 'kafka', 'topic' = '{log}',
            'format' = '{value_format}', 'scan.startup.mode' = 'earliest-offset',
            'properties.bootstrap.servers' = '{broker.bootstrap_servers}')"""
    )
    rome, oslo, bern = ({"id": 1, "city": city, "amount": 5} for city in ("Rome", "Oslo", "Bern"))
    changes = [[(None, rome), (None, {**bern, "id": 2})], [(rome, oslo), ({**bern, "id": 2}, None)]]

    result = env.execute_sql(JOIN.replace("accounts", "clients"))
    for start, messages in enumerate(changes):
        values = [change(value_format, *pair) for pair in messages]
        produce(broker.bootstrap_servers, log, [{"value": value} for value in values])
        orders = [json.dumps({"id": 10 * start + account, "account": account}).encode() for account in (1, 2)]
        produce(broker.bootstrap_servers, topics["orders"], [{"value": order} for order in orders])
        result.query.processAllAvailable()
    result.get_job_client().cancel().result()

    assert rows_of(env, "named") == [(1, "Rome"), (2, "Bern"), (11, "Oslo"), (12, None)]


def test_first_rows_joined_rows_and_groups_of_groups_follow_their_tables_also_after_a_restart(
    create, upsert, make_topic, broker
) -> None:
    env, topics = create()
    tables = {
        "mayors": "city STRING, mayor STRING, PRIMARY KEY (city) NOT ENFORCED",
        "richest": "city STRING, id BIGINT, amount BIGINT, PRIMARY KEY (city) NOT ENFORCED",
        "ruled": "id BIGINT, mayor STRING, PRIMARY KEY (id) NOT ENFORCED",
        "sizes": "accounts BIGINT, cities BIGINT, PRIMARY KEY (accounts) NOT ENFORCED",
    }
    for name, columns in tables.items():
        topics[name] = make_topic(2)
        env.execute_sql(
            f"""CREATE TABLE {name} ({columns}) WITH ('connector' = 'upsert-kafka', 'topic' = '{topics[name]}',
                'key.format' = 'json', 'value.format' = 'json',
                'properties.bootstrap.servers' = '{broker.bootstrap_servers}')"""
        )
    inserts = [
        """INSERT INTO richest SELECT city, id, amount FROM (SELECT *, ROW_NUMBER() OVER
            (PARTITION BY city ORDER BY amount DESC) AS rn FROM accounts) WHERE rn = 1""",
        "INSERT INTO ruled SELECT a.id, m.mayor FROM accounts AS a JOIN mayors AS m ON a.city = m.city",
        """INSERT INTO sizes SELECT n, COUNT(*) FROM
            (SELECT city, COUNT(*) AS n FROM accounts GROUP BY city) GROUP BY n""",
    ]
    for rows, mayors in ((FIRST, {"Rome": "Anna", "Bern": "Beat"}), (LATER, {"Rome": "Bruno", "Oslo": "Odd"})):
        upsert(topics["accounts"], rows)
        messages = [
            {"key": json.dumps({"city": city}), "value": json.dumps({"city": city, "mayor": mayor})}
            for city, mayor in mayors.items()
        ]
        produce(broker.bootstrap_servers, topics["mayors"], messages)
        statements = env.create_statement_set()
        for insert in inserts:
            statements.add_insert_sql(insert)
        result = statements.execute()
        for query in result.queries:
            query.processAllAvailable()
        result.get_job_client().cancel().result()

    assert rows_of(env, "richest") == [("Oslo", 5, 101), ("Rome", 3, 300)]
    assert rows_of(env, "ruled") == [(1, "Bruno"), (2, "Bruno"), (3, "Bruno"), (5, "Odd")]
    assert rows_of(env, "sizes") == [(1, 1), (3, 1)]
