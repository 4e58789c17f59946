"""ZooKeeper beside a broker of Kafka 2.8, which keeps its metadata there."""

from __future__ import annotations

import socket
from pathlib import Path

from millrace_broker.admin import wait_until
from millrace_broker.node import NodeConfig, zookeeper_port
from millrace_broker.process import GuardedProcess

_MAIN_CLASS = "org.apache.zookeeper.server.ZooKeeperServerMain"

_SESSION_END_SECONDS = 30.0


class ZooKeeper:
    """A ZooKeeper for one broker, which ends with this Python process at the latest."""

    def __init__(self) -> None:
        self._process: GuardedProcess | None = None

    def ensure_started(self, java: list[str], config: NodeConfig) -> None:
        """Start it, or wait until it has forgotten the broker that ran before; the broker waits for the rest.

        A killed broker's session lives on for some seconds, and another with its id would be refused for so long.

        Args:
            java: Java with its options, among them the class path.
            config: The broker.

        Raises:
            MachineError: The system could not start it.
        """
        if self._process is not None:
            wait_until(lambda: not _has_brokers(zookeeper_port(config)), _SESSION_END_SECONDS)
            return
        file = config.folder / "zookeeper.properties"
        file.write_text(_properties(config.folder / "zookeeper", zookeeper_port(config)))
        self._process = GuardedProcess(None)
        self._process.start([*java, _MAIN_CLASS, str(file)], config.console_file)

    def close(self) -> None:
        """End it."""
        if self._process is not None:
            self._process.close()
            self._process = None


def _has_brokers(port: int) -> bool:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(b"dump")
        return b"/brokers/ids/" in connection.makefile("rb").read()


def _properties(data: Path, port: int) -> str:
    entries = {
        "dataDir": str(data),
        "clientPort": str(port),
        "clientPortAddress": "127.0.0.1",
        "admin.enableServer": "false",
        "4lw.commands.whitelist": "dump",
    }
    return "".join(f"{name}={value}\n" for name, value in entries.items())
