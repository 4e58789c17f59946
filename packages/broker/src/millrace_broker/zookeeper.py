"""ZooKeeper beside a broker of Kafka 2.8, which keeps its metadata there."""

from __future__ import annotations

from pathlib import Path

from millrace_broker.node import NodeConfig, zookeeper_port
from millrace_broker.process import GuardedProcess

_MAIN_CLASS = "org.apache.zookeeper.server.ZooKeeperServerMain"


class ZooKeeper:
    """A ZooKeeper for one broker, which ends with this Python process at the latest."""

    def __init__(self) -> None:
        self._process: GuardedProcess | None = None

    def ensure_started(self, java: list[str], config: NodeConfig) -> None:
        """Start it unless it runs; the broker waits for it.

        Args:
            java: Java with its options, among them the class path.
            config: The broker.

        Raises:
            MachineError: The system could not start it.
        """
        if self._process is not None:
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


def _properties(data: Path, port: int) -> str:
    entries = {
        "dataDir": str(data),
        "clientPort": str(port),
        "clientPortAddress": "127.0.0.1",
        "admin.enableServer": "false",
    }
    return "".join(f"{name}={value}\n" for name, value in entries.items())
