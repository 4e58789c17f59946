"""Old results of groups, for tables that do not find the row to replace by their key."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

from millrace_sql import TableEnvironment
from millrace_sql.errors import SqlError
from millrace_sql.planner.state import _updater
from support.planned_sql import plan


@pytest.mark.parametrize(
    ("query", "mode", "key"),
    [
        ("SELECT name, COUNT(*) FROM users GROUP BY name", "[I,UB,UA,D]", ("name",)),
        ("SELECT name, MIN(v), AVG(v) FROM orders GROUP BY name", "[I,UB,UA]", ("name",)),
        ("SELECT COUNT(*) FROM users", "[I,UB,UA]", ()),
        ("SELECT COUNT(*) FROM users GROUP BY name", "[I,UB,UA,D]", ()),
        ("SELECT name, COUNT(*) FROM users GROUP BY name HAVING COUNT(*) > 1", "[I,D]", ("name",)),
        ("SELECT DISTINCT name FROM users", "[I,UB,UA,D]", ("name",)),
        ("SELECT DISTINCT name FROM orders", "[I]", ("name",)),
        ("SELECT n FROM (SELECT name, COUNT(*) AS n FROM users GROUP BY name) WHERE n > 1", "[I,UB,UA,D]", ()),
    ],
)
def test_a_group_returns_its_old_result_where_it_is_asked_for(query: str, mode: str, key: tuple[str, ...]) -> None:
    planned = plan(query, keeps_results=True)

    assert (str(planned.changelog_mode), planned.upsert_key) == (mode, key)
    assert bool(planned._stages) is (mode != "[I]")


def test_an_aggregate_without_old_results_is_refused() -> None:
    with pytest.raises(SqlError, match=r"MAX_BY\(v, id\) has no old results, which the table needs: use COUNT, SUM"):
        plan("SELECT name, MAX_BY(v, id) FROM orders GROUP BY name", keeps_results=True)


class Group:
    """The state of a group, as Spark hands it to a function."""

    def __init__(self) -> None:
        self.value: tuple | None = None

    exists = property(lambda self: self.value is not None)
    get = property(lambda self: self.value)

    def update(self, value: tuple) -> None:
        json.loads(value[0])
        self.value = value

    def remove(self) -> None:
        self.value = None


@pytest.mark.parametrize(
    ("keys", "changes"),
    [
        (
            ["__group0"],
            [
                ([("1", 1)], [("1", 1, False, False)]),
                ([("2", 1)], [("1", 1, True, True), ("3", 2, False, True)]),
                ([("5", 1), ("5", -1)], []),
                ([("2", -1), ("1", -1)], [("3", 2, True, False), ("0", 0, False, True)]),
                ([("7", 1)], [("7", 1, False, False)]),
            ],
        ),
        (
            ["__all"],
            [
                ([("1", 1)], [("1", 1, False, False)]),
                ([("1", -1)], [("1", 1, True, True), ("0", 0, False, True)]),
                ([("4", 1)], [("0", 0, True, True), ("4", 1, False, True)]),
            ],
        ),
    ],
)
def test_an_old_result_comes_before_the_new_one_and_none_for_one_that_stays(keys: list[str], changes: list) -> None:
    group: Any = Group()
    update = _updater(keys, (("exact", "sum"),), returns_old=True)

    for rows, expected in changes:
        batch = pd.DataFrame(rows, columns=["__value0", "__sign"])
        (found,) = update(("a",), iter([batch]), group)
        columns = ["__value0", "__rows", "__old", "__paired"]
        assert [tuple(row) for row in found[columns].itertuples(index=False)] == expected


CHANGES = {"connector": "kafka", "format": "debezium-json"}
UPSERTS = {"connector": "upsert-kafka", "key.format": "json", "value.format": "json"}
TABLES = {
    "sales": ("id INT, city STRING, amount INT, PRIMARY KEY (id) NOT ENFORCED", CHANGES),
    "log": ("city STRING, total BIGINT", CHANGES),
    "cities": ("city STRING, total BIGINT, PRIMARY KEY (city) NOT ENFORCED", UPSERTS),
    "totals": ("city STRING, total BIGINT, PRIMARY KEY (city, total) NOT ENFORCED", UPSERTS),
}
GROUPS = "INSERT INTO {} SELECT city, SUM(amount) FROM sales GROUP BY city"


@pytest.fixture
def env(spark):
    made = TableEnvironment(spark)
    for name, (columns, options) in TABLES.items():
        with_ = {**options, "topic": name, "properties.bootstrap.servers": "nowhere:1"}
        pairs = ", ".join(f"'{key}' = '{value}'" for key, value in with_.items())
        made.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ({pairs})")
    return made


@pytest.mark.parametrize(("table", "mode"), [("log", "[I,UB,UA,D]"), ("totals", "[I,UB,UA,D]"), ("cities", "[I,UA,D]")])
def test_a_table_gets_the_old_results_that_it_needs(env, table, mode):
    aggregate = env.explain_sql(GROUPS.format(table)).partition("+- ")[2].splitlines()[0]

    assert aggregate.startswith("GroupAggregate(")
    assert f"changelogMode={mode})" in aggregate


def test_rows_that_leave_their_key_out_are_refused_for_the_key_of_another_column(env):
    message = (
        r"known by \(id\), which it leaves out: .* select id and make it the key .*, or group the query by \(city\)"
    )
    with pytest.raises(SqlError, match=message):
        env.explain_sql("INSERT INTO cities SELECT city, amount FROM sales")

    env.explain_sql(GROUPS.format("cities"))
