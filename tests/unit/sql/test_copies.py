"""CREATE TABLE ... AS TABLE is refused before anything is created."""

from __future__ import annotations

import pytest

from millrace.errors import OptionsError
from millrace_sql import SqlError, TableEnvironment

KAFKA = "WITH ('connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'localhost:1', 'format' = '{}')"
FILES = "WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = '{}')"


@pytest.mark.parametrize(
    ("statement", "error", "said"),
    [
        ("CREATE TABLE t (id BIGINT) {parquet} AS TABLE orders", SqlError, "declare none, or use AS SELECT"),
        ("CREATE TABLE t {parquet} AS TABLE files", SqlError, "copies tables of connector 'kafka', not 'filesystem'"),
        ("CREATE TABLE t {parquet} AS TABLE v", SqlError, "v is a view"),
        ("CREATE TABLE t {parquet} AS TABLE texts", OptionsError, "copies topics of format 'json', not 'csv'"),
        ("CREATE TABLE t {json} AS TABLE orders", OptionsError, "into files of format 'parquet'"),
        ("CREATE TABLE t WITH ('connector' = 'print') AS TABLE orders", OptionsError, "not 'print'"),
    ],
)
def test_refusals(spark, statement, error, said):
    env = TableEnvironment(spark)
    env.execute_script(
        f"""
        CREATE TABLE orders (id BIGINT) {KAFKA.format("json")};
        CREATE TABLE texts (id BIGINT) {KAFKA.format("csv")};
        CREATE TABLE files (id BIGINT) {FILES.format("json")};
        CREATE VIEW v AS SELECT 1 AS id
        """
    )
    with pytest.raises(error) as refusal:
        env.execute_sql(statement.format(parquet=FILES.format("parquet"), json=FILES.format("json")))
    assert said in str(refusal.value)
    assert "t" not in env.list_tables()
