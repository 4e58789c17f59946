"""The change logs of the cases through SQL: into tables of upsert-kafka and back, and with repeated events."""

from __future__ import annotations

import numpy as np
import pytest

from millrace.errors import OptionsError
from millrace_sql import TableEnvironment
from support.cases import CASES
from support.kafka import consume, produce

PRODUCTS = "id INT, name STRING, description STRING, weight FLOAT"
CHANGE_LOGS = {
    "exclude": ("debezium-json", "mysql-schema-exclude.txt", {}),
    "include": ("debezium-json", "mysql-schema-include.txt", {"debezium-json.schema-include": "true"}),
    "canal": ("canal-json", "data.txt", {}),
    "maxwell": ("maxwell-json", "data.txt", {}),
}


def lines(folder: str, file: str) -> list[str]:
    return (CASES / folder / file).read_text().splitlines()


def create(broker, name: str, columns: str, **options: str) -> str:
    with_ = {"connector": "kafka", "properties.bootstrap.servers": broker.bootstrap_servers, **options}
    if with_["connector"] == "kafka":
        with_["scan.startup.mode"] = "earliest-offset"
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in with_.items())
    return f"CREATE TABLE {name} ({columns}) WITH ({pairs});\n"


def shown(*values: object) -> str:
    """A row as the expected ones are written."""
    texts = ("null" if each is None else str(np.float32(each) if isinstance(each, float) else each) for each in values)
    return f"({','.join(texts)})"


def final_rows(changes: list[str]) -> list[str]:
    """The rows that changes leave."""
    table: set[str] = set()
    for change in changes:
        kind, row = change[:2], change[2:]
        if kind in {"+I", "+U"}:
            table.add(row)
        else:
            table.remove(row)
    return sorted(table)


@pytest.fixture
def env(spark, tmp_path):
    yield new_environment(spark, tmp_path)
    for query in spark.streams.active:
        query.stop()


def new_environment(spark, tmp_path) -> TableEnvironment:
    env = TableEnvironment(spark)
    env.execute_sql(f"SET 'execution.checkpointing.dir' = '{tmp_path}/checkpoints'")
    env.execute_sql("SET 'parallelism.default' = '2'")
    return env


def finish(result) -> None:
    """Let streams write what is there, and end them."""
    for query in result.queries:
        query.processAllAvailable()
    result.get_job_client().cancel().result()


@pytest.mark.cases
def test_change_logs_go_into_upsert_tables_and_come_back_as_the_expected_tables(env, broker, make_topic):
    expected = {name: lines(format_, "expected-rows.txt") for name, (format_, _, _) in CHANGE_LOGS.items()}
    script = ""
    for name, (format_, file, options) in CHANGE_LOGS.items():
        topic = make_topic()
        produce(broker.bootstrap_servers, topic, [{"value": line.encode()} for line in lines(format_, file)])
        script += create(broker, name, PRODUCTS, topic=topic, format=format_, **options)
    products, kept_products = make_topic(), make_topic(2)
    messages = lines("upsert", "product_changelog.txt")
    produce(broker.bootstrap_servers, products, [{"value": line.encode()} for line in messages])
    upsert = {"connector": "upsert-kafka", "key.format": "json", "value.format": "json"}
    columns = "product_id STRING, product_name STRING, product_price DECIMAL(10, 2)"
    key = "PRIMARY KEY (log, id) NOT ENFORCED"
    script += create(broker, "products", columns, topic=products, format="debezium-json")
    script += create(broker, "kept", f"log STRING, {PRODUCTS}, {key}", topic=make_topic(2), **upsert)
    key = "PRIMARY KEY (product_id) NOT ENFORCED"
    script += create(broker, "kept_products", f"{columns}, {key}", topic=kept_products, **upsert)
    env.execute_script(script)

    union = " UNION ALL ".join(f"SELECT '{name}' AS log, {name}.* FROM {name}" for name in CHANGE_LOGS)
    finish(
        env.execute_sql(
            f"""EXECUTE STATEMENT SET BEGIN
                  INSERT INTO kept {union};
                  INSERT INTO kept_products SELECT * FROM products;
                END"""
        )
    )

    stream = "SELECT * FROM kept /*+ OPTIONS('scan.bounded.mode' = 'latest-offset') */"
    with env.execute_sql(stream).collect() as rows:
        changes = [(kind, log, shown(*values)) for log, *values, kind in map(tuple, rows)]
    env.execute_sql("SET 'execution.runtime-mode' = 'batch'")
    batch = [(log, shown(*values)) for log, *values in map(tuple, env.sql_query("SELECT * FROM kept").collect())]
    for name, changed in expected.items():
        assert sorted(row for log, row in batch if log == name) == final_rows(changed), name
        assert final_rows([kind + row for kind, log, row in changes if log == name]) == final_rows(changed), name
    # The last messages delete both products
    assert env.sql_query("SELECT * FROM kept_products").collect() == []
    latest = {message.key(): message.value() for message in consume(broker.bootstrap_servers, kept_products)}
    assert latest == {b'{"product_id":"p_001"}': None, b'{"product_id":"p_002"}': None}


@pytest.mark.cases
def test_repeated_events_are_dropped_also_across_a_restart(spark, env, broker, make_topic, tmp_path):
    source, target = make_topic(), make_topic()
    # A connector that starts again begins a few messages before the last ones that it has written
    twice = [line for line in lines("debezium-json", "mysql-schema-exclude.txt") for _ in range(2)]
    key = "PRIMARY KEY (id) NOT ENFORCED"
    script = "SET 'table.exec.source.cdc-events-duplicate' = 'true';\n"
    script += create(broker, "changes", f"{PRODUCTS}, {key}", topic=source, format="debezium-json")
    script += create(broker, "copy", PRODUCTS, topic=target, format="debezium-json")
    for run, some in enumerate((twice[:21], twice[21:])):
        produce(broker.bootstrap_servers, source, [{"value": line.encode()} for line in some])
        if run:
            env = new_environment(spark, tmp_path)
        env.execute_script(script)
        finish(env.execute_sql("INSERT INTO copy SELECT * FROM changes"))

    written = [message.value().decode() for message in consume(broker.bootstrap_servers, target)]
    assert written == lines("debezium-json", "expected-serialized.txt")
    plan = env.explain_sql("SELECT id FROM changes WHERE weight > 1")
    scan = "table=[[default_catalog, default_database, changes]], fields=[id, name, description, weight]"
    assert "+- ChangelogNormalize(key=[id], changelogMode=[I,UB,UA,D])\n" in plan
    assert f"   +- TableSourceScan({scan}, changelogMode=[I,UA,D])\n" in plan
    env.execute_sql("SET 'execution.runtime-mode' = 'batch'")
    rows = sorted(shown(*row) for row in env.sql_query("SELECT * FROM changes").collect())
    assert rows == final_rows(lines("debezium-json", "expected-rows.txt"))
    env.execute_sql(create(broker, "keyless", PRODUCTS, topic=source, format="debezium-json"))
    with pytest.raises(OptionsError, match=r"'table.exec.source.cdc-events-duplicate' = 'true' requires a primary key"):
        env.execute_sql("SELECT * FROM keyless")
