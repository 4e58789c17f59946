"""One Kafka broker, which runs as long as a ``with`` block."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from millrace.errors import MachineError, OptionsError
from millrace_broker.admin import await_ready, log_tail
from millrace_broker.installation import DEFAULT_VERSION
from millrace_broker.listeners import Listener
from millrace_broker.local_kafka import LocalKafka, start_on_free_ports
from millrace_broker.node import ClusterMember, NodeConfig, configure_node, needs_zookeeper
from millrace_broker.process import GuardedProcess
from millrace_broker.progress import Progress, StderrProgress
from millrace_broker.runtime import RuntimeSettings, prepare_runtime
from millrace_broker.zookeeper import ZooKeeper

# A clean shutdown takes Kafka less than a second, unless the rest of its cluster is down
_SHUTDOWN_SECONDS = 15.0


class KafkaBroker(LocalKafka):
    """A real Apache Kafka broker on 127.0.0.1, which ends with this process at the latest.

    Use it as a context manager, or call `start` and `stop`. Its ports stay the same as long as the object exists.
    Before the first start it has no addresses, and asking for one raises MachineError.

    Args:
        listeners: Addresses for clients; by default one without security on a free port. `bootstrap_servers` names
            the first.
        properties: Further entries of Kafka's ``server.properties``.
        heap: Java's maximum heap, such as ``"512m"``.
        data_dir: Holds data and logs, and is kept; by default a temporary folder that `stop` deletes.
        version: Kafka's version, 2.8 (with a ZooKeeper of its own) or 3.3 and newer; it is downloaded once and kept in
            the user's cache folder.
        java_options: Further JVM options, such as ``"-XX:TieredStopAtLevel=1"`` for a quicker start and a lower
            throughput.
        progress: Told how far the download of Kafka is; by default that goes to standard error.
        member: Its identity in a cluster, which `KafkaCluster` gives it; its data then stays until the cluster stops.
    """

    def __init__(
        self,
        *,
        listeners: Sequence[Listener] = (),
        properties: Mapping[str, str] | None = None,
        heap: str = "512m",
        data_dir: str | Path | None = None,
        version: str = DEFAULT_VERSION,
        java_options: Sequence[str] = (),
        progress: Progress | None = None,
        member: ClusterMember | None = None,
    ) -> None:
        self._settings = RuntimeSettings(progress or StderrProgress(), version, heap, tuple(java_options))
        self._listeners = tuple(listeners) or (Listener("PLAINTEXT"),)
        self._properties = dict(properties or {})
        self._data_dir = Path(data_dir).absolute() if data_dir else None
        self._member = member
        self._config: NodeConfig | None = None
        self._process: GuardedProcess | None = None
        self._zookeeper = ZooKeeper()
        self._folder = Path()

    @property
    def version(self) -> str:
        """Kafka's version."""
        return self._settings.version

    @property
    def bootstrap_servers(self) -> str:
        """The address of the first listener, ``host:port``."""
        return self._started_config().listeners[0].address

    @property
    def internal_address(self) -> str:
        """The address of the PLAINTEXT listener between brokers, ``host:port``."""
        return self._started_config().internal.address

    @property
    def data_dir(self) -> Path:
        """The folder with the broker's data, configuration and logs."""
        return self._started_config().folder

    @property
    def log_file(self) -> Path:
        """The broker's log."""
        return self._started_config().log_file

    @property
    def pid(self) -> int | None:
        """The process id of the broker's Java; None while it is stopped."""
        return self._process.pid if self._process else None

    @property
    def is_running(self) -> bool:
        """True while the broker's process runs."""
        return self._process is not None and self._process.pid is not None and self._process.exit_code() is None

    @property
    def guard_pid(self) -> int | None:
        """The id of the process that ends the broker when this one dies; None while there is no broker."""
        return self._process.guard_pid if self._process else None

    def address(self, listener: str) -> str:
        """Return the address of a listener, ``host:port``.

        Args:
            listener: The listener's name.

        Raises:
            KeyError: There is no listener of that name.
        """
        return {started.name: started.address for started in self._started_config().listeners}[listener]

    def log_tail(self) -> str:
        """Return the log lines that most likely explain a failure."""
        return log_tail(self._started_config())

    def start(self) -> None:
        """Start the broker and wait until it serves clients; does nothing when it runs already.

        Raises:
            MachineError: Java is missing or too old, Kafka cannot be downloaded, a port is taken, or the broker does
                not start; the message then holds the last lines of its log.
        """
        # Ports that clients know already, or that the cluster's other nodes use, must not change
        may_change_ports = self._config is None and self._member is None
        start_on_free_ports(self._start_once, self._forget_ports if may_change_ports else None)

    def stop(self) -> None:
        """Stop the broker cleanly; a temporary data folder is deleted, unless the broker belongs to a cluster."""
        if self._member is None:
            self.close()
        elif self._process:
            self._process.stop(_SHUTDOWN_SECONDS)

    def restart(self) -> None:
        """Stop the broker cleanly and start it again, with the same ports and the same data."""
        if self._process:
            self._process.stop(_SHUTDOWN_SECONDS)
        self.start()

    def kill(self) -> None:
        """Kill the broker, as in a crash (SIGKILL); `start` starts it again with the same data."""
        if self._process:
            self._process.stop(0)

    def launch(self) -> None:
        """Start the broker's process without waiting for it to serve clients.

        Raises:
            MachineError: As `start` does, except for what shows only while Kafka starts.
        """
        if self.is_running:
            return
        if self._member is not None and needs_zookeeper(self.version):
            raise OptionsError("broker", (f"version: a cluster needs Kafka 3.3 or newer; got {self.version!r}",))
        runtime = prepare_runtime(self._settings)
        if self._process is None:
            self._folder = self._data_dir or Path(tempfile.mkdtemp(prefix="millrace-kafka-"))
            self._process = GuardedProcess(None if self._data_dir else self._folder)
        self._config = self._configure(self._folder)
        command = runtime.prepare(self._config)
        if needs_zookeeper(self.version):
            self._zookeeper.ensure_started(runtime.java_command(self._config), self._config)
        self._process.start(command, self._config.console_file)

    def await_ready(self, nodes: frozenset[int] | None = None) -> None:
        """Wait until the broker serves clients.

        Args:
            nodes: Ids of the nodes that it must know to be up; by default itself.

        Raises:
            MachineError: It was not launched, has exited, or is not ready after 90 seconds.
        """
        config = self._started_config()
        if self._process is None:
            raise MachineError("the Kafka broker is not started; call start() first")
        ports = config.ports(self.version)
        await_ready(config, self._process.exit_code, nodes or frozenset([config.member.node_id]), ports)

    def close(self) -> None:
        """Stop the broker and delete a temporary data folder."""
        if self._process is None:
            return
        if self._data_dir and self.pid:
            self._process.stop(_SHUTDOWN_SECONDS)
        # Without data to keep, a clean shutdown serves nothing
        self._zookeeper.close()
        self._process.close()
        self._process = None

    def _internal_addresses(self) -> list[str]:
        return [self.internal_address]

    def _start_once(self) -> None:
        try:
            self.launch()
            self.await_ready()
        except BaseException:
            self.close()
            raise

    def _forget_ports(self) -> None:
        self._config = None

    def _started_config(self) -> NodeConfig:
        if self._config is None:
            raise MachineError("the Kafka broker has no address and no data folder yet; start it first")
        return self._config

    def _configure(self, folder: Path) -> NodeConfig:
        folder.mkdir(parents=True, exist_ok=True)
        if self._config:
            return dataclasses.replace(self._config, folder=folder)
        return configure_node(folder, self._listeners, self._properties, self._member)
