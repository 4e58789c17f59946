"""Jobs in a session of plain PySpark, which all run in one process."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from support.admin import delete_topics
from support.jdbc_drivers import driver_jars
from support.kafka import consume
from support.names import unique_name

PROGRAM = Path(__file__).parent / "programs" / "plain_session.py"
TOPICS = ("orders", "copied", "upserted", "evolving")


class Session(NamedTuple):
    """The session after all jobs.

    Attributes:
        servers: The broker.
        topics: The topics, by their names in the program.
        folder: The database's folder.
        outcomes: The result, or the error, of each job.
    """

    servers: str
    topics: dict[str, str]
    folder: Path
    outcomes: dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def session(plain, broker, tmp_path_factory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("session")
    topics = {name: unique_name(name) for name in TOPICS}
    for topic in topics.values():
        broker.create_topic(topic, 2)
    (driver,) = (jar for jar in driver_jars() if "sqlite" in jar.name)
    given = {"servers": broker.bootstrap_servers, "folder": str(folder), "driver": str(driver), **topics}
    try:
        shown = plain.output(
            "python", PROGRAM, json.dumps({**given, "database": f"jdbc:sqlite:{folder}/shop.db"}), cwd=folder
        )
        lines = [json.loads(line) for line in shown.splitlines() if line.startswith('{"job"')]
        outcomes = {line.pop("job"): line for line in lines}
        yield Session(broker.bootstrap_servers, topics, folder, outcomes)
    finally:
        delete_topics(broker.bootstrap_servers, topics.values())


def test_orders_are_copied_from_topic_to_topic(session):
    assert session.outcomes["copy_orders"] == {"result": [2, 3]}


def test_rows_are_divided_by_key(session):
    assert session.outcomes["divide_by_key"] == {"result": None}
    written = [json.loads(each.key()) for each in consume(session.servers, session.topics["upserted"])]
    assert sorted(key["id"] for key in written) == [1, 2, 3]


def test_a_query_restarts_with_a_column_more(session):
    assert session.outcomes["follow_schema"] == {"result": {"restarts": 1, "rows": [[1, None], [2, "new"]]}}


def test_a_topic_is_replicated_into_a_database(session):
    assert session.outcomes["replicate_into_database"] == {"result": None}
    with sqlite3.connect(session.folder / "shop.db") as connection:
        rows = connection.execute("SELECT id, country, amount FROM orders ORDER BY id").fetchall()
    assert rows == [(1, "de", 60.0), (2, "fr", 120.0), (3, "it", 180.0)]


def test_state_in_spark_without_its_extra_names_it(session):
    assert "pip install 'millrace-core[spark-state]'" in session.outcomes["keep_state"]["error"]
