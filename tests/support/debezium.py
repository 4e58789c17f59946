"""A real Debezium: its connector for PostgreSQL, in Kafka Connect's standalone worker."""

from __future__ import annotations

import json
import tempfile
import urllib.request
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from millrace_broker.installation import DEFAULT_VERSION
from millrace_broker.java import find_java
from millrace_broker.listeners import free_ports
from support.families import Family
from support.maven import Artifact, fetch_jars
from support.postgres import Postgres
from support.waiting import wait_until

VERSION = "3.3.1.Final"
_ARTIFACTS = (
    Artifact("io.debezium", "debezium-connector-postgres", VERSION),
    Artifact("org.apache.kafka", "connect-runtime", DEFAULT_VERSION),
    Artifact("org.apache.kafka", "connect-json", DEFAULT_VERSION),
    Artifact("org.slf4j", "slf4j-simple", "1.7.36"),
)


def fetch_connect() -> list[Path]:
    """Return the jars of Kafka Connect and of Debezium's connector."""
    return fetch_jars(f"debezium-{VERSION}", _ARTIFACTS)


class Debezium:
    """A worker that writes the changes of a database to topics; it ends with the ``with`` block.

    Args:
        postgres: The database, with ``wal_level`` = logical.
        servers: The brokers.
        name: The prefix of topics, and the name of the replication slot and publication.
        has_schemas: Whether messages include their schema.
        properties: Properties of the connector.
    """

    def __init__(
        self, postgres: Postgres, servers: str, name: str, *, has_schemas: bool = False, **properties: str
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="millrace-debezium-")
        (self._port,) = free_ports(1)
        self._name = name
        self._worker = {
            "bootstrap.servers": servers,
            "listeners": f"http://127.0.0.1:{self._port}",
            "offset.storage.file.filename": f"{self._folder.name}/offsets",
            "offset.flush.interval.ms": "1000",
            "plugin.discovery": "service_load",
            **{
                f"{side}.converter{suffix}": value
                for side in ("key", "value")
                for suffix, value in (
                    ("", "org.apache.kafka.connect.json.JsonConverter"),
                    (".schemas.enable", str(has_schemas).lower()),
                )
            },
        }
        self._connector = {
            "name": name,
            "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
            "plugin.name": "pgoutput",
            "database.hostname": "127.0.0.1",
            "database.port": str(postgres.port),
            "database.user": postgres.properties["user"],
            "database.password": postgres.properties["password"],
            "database.dbname": "postgres",
            "topic.prefix": name,
            "slot.name": name,
            "publication.name": name,
            # Statements that Debezium leaves out by default
            "skipped.operations": "none",
            "poll.interval.ms": "50",
            # A change confirms the log up to the change before it only. A checkpoint between the two writes to the log,
            # too, so that without heartbeats its end is not confirmed before there is yet another change
            "heartbeat.interval.ms": "500",
            "topic.creation.default.partitions": "1",
            "topic.creation.default.replication.factor": "1",
            **properties,
        }

    def __enter__(self) -> Self:
        folder = Path(self._folder.name)
        for name, properties in (("worker", self._worker), ("connector", self._connector)):
            lines = [f"{key}={value}\n" for key, value in properties.items()]
            (folder / name).write_text("".join(lines))
        command = [
            *(str(find_java().path), "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            *("-cp", ":".join(map(str, fetch_connect()))),
            "org.apache.kafka.connect.cli.ConnectStandalone",
            *(str(folder / "worker"), str(folder / "connector")),
        ]
        self._family = Family(command, folder / "console")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._family:
            pass
        self._folder.cleanup()

    def wait_until_running(self) -> None:
        """Wait until it reads the database."""
        wait_until(self._is_running, "Debezium to run")

    def _is_running(self) -> bool:
        console = self._family.console
        assert self._family.is_running(), console.read_text()[-6000:]
        with suppress(OSError):
            status = f"http://127.0.0.1:{self._port}/connectors/{self._name}/status"
            with urllib.request.urlopen(status, timeout=10) as answer:
                tasks = json.load(answer)["tasks"]
            assert all(task["state"] != "FAILED" for task in tasks), tasks
            return any(task["state"] == "RUNNING" for task in tasks)
        return False
