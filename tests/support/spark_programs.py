"""Spark's own programs, from the PySpark that is installed, on loopback addresses."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark

from support.families import Family
from support.waiting import wait_until

SPARK_CLASS = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
"""Spark's own launcher of its programs."""

# JVMs that live for seconds
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

ON_CLUSTER = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": QUICK,
    "spark.driver.host": "127.0.0.1",
    "spark.executor.extraJavaOptions": QUICK,
    "spark.executor.memory": "512m",
    "spark.log.level": "ERROR",
    "spark.python.unix.domain.socket.enabled": "true",
    # All executors are there before the first task is given to one
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
}
"""The settings of a driver of a cluster."""

ENVIRONMENT = {
    "PYSPARK_PYTHON": sys.executable,
    "SPARK_LOCAL_IP": "127.0.0.1",
    "SPARK_DAEMON_JAVA_OPTS": QUICK,
}


@dataclass(frozen=True)
class StandaloneCluster:
    """A running cluster.

    Attributes:
        url: What a session is given as its master.
        families: Its master and its workers, each with the executors that it starts.
    """

    url: str
    families: Sequence[Family]


@contextmanager
def standalone_cluster(folder: Path, hosts: Sequence[str] = ("127.0.0.1", "127.0.0.1")) -> Iterator[StandaloneCluster]:
    """A master and workers of one core each.

    Args:
        folder: For logs and the workers' files.
        hosts: Where each worker is: a loopback address. Each has a folder for temporary files of its own,
            ``host-0`` and so on, as hosts have.
    """
    with ExitStack() as stack:
        deploy = "org.apache.spark.deploy"
        master = stack.enter_context(_spark([f"{deploy}.master.Master", *_at("127.0.0.1")], folder / "master.log"))
        url = _said(master, r"Starting Spark master at (spark://\S+)")
        families = [master]
        for number, host in enumerate(hosts):
            size = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"worker-{number}")]
            command = [f"{deploy}.worker.Worker", *_at(host), *size, url]
            temporary = folder / f"host-{number}"
            temporary.mkdir()
            log = folder / f"worker-{number}.log"
            families.append(stack.enter_context(_spark(command, log, environment={"TMPDIR": str(temporary)})))
        for family in families[1:]:
            _said(family, r"(Successfully registered with master)")
        yield StandaloneCluster(url, families)


@contextmanager
def connect_server(folder: Path) -> Iterator[tuple[str, Family]]:
    """A Spark Connect server with two cores of its own; gives its URL, and its processes.

    Args:
        folder: For its log and its files.
    """
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": "0",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
    }
    conf = [argument for name, value in settings.items() for argument in ("--conf", f"{name}={value}")]
    server = "org.apache.spark.sql.connect.service.SparkConnectServer"
    submit = ["org.apache.spark.deploy.SparkSubmit", "--master", "local[2]", "--class", server, *conf, "spark-internal"]
    with _spark(submit, folder / "connect.log", memory="1g") as family:
        port = _said(family, r"Spark Connect server started at: \S+:(\d+)")
        yield f"sc://127.0.0.1:{port}", family


def _at(host: str) -> list[str]:
    return ["--host", host, "--port", "0", "--webui-port", "0"]


def _spark(command: list[str], log: Path, memory: str = "256m", environment: Mapping[str, str] | None = None) -> Family:
    settings = {**ENVIRONMENT, "SPARK_DAEMON_MEMORY": memory, **(environment or {})}
    return Family([SPARK_CLASS, *command], log, settings)


def _said(family: Family, pattern: str) -> str:
    """Wait until a program has said something, and return the part of it in parentheses."""
    found: list[str] = []

    def has_said() -> bool:
        assert family.is_running(), family.console.read_text()
        found.extend(re.findall(pattern, family.console.read_text()))
        return bool(found)

    wait_until(has_said, f"{pattern!r} in {family.console}")
    return found[0]
