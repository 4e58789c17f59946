"""One Kafka broker, for as long as a ``with`` block."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from millrace.errors import MachineError
from millrace_broker import admin
from millrace_broker.install import DEFAULT_VERSION
from millrace_broker.listener import Listener
from millrace_broker.plan import NodePlan, Seat, make_plan
from millrace_broker.preparation import find_program
from millrace_broker.process import GuardedProcess
from millrace_broker.program import Settings
from millrace_broker.progress import Progress, StderrProgress
from millrace_broker.readiness import PortTakenError, await_ready, log_tail

# A clean end takes Kafka under a second, unless the rest of its cluster is gone
_GRACE_SECONDS = 15.0
_PORT_ATTEMPTS = 4


class KafkaBroker:
    """A real Apache Kafka broker on 127.0.0.1, which ends with this process at the latest.

    Use it as a context manager, or call `start` and `stop`. Its ports stay the same for as long as the object lives.

    Args:
        listeners: Where clients connect; by default one without security on a free port. The first is where
            `bootstrap_servers` points.
        properties: Further entries of Kafka's ``server.properties``.
        heap: Java's largest heap, such as ``"512m"``.
        data_dir: Holds data and logs, and is kept; by default a temporary folder that `stop` deletes.
        version: Kafka's version; it is fetched once and kept in the user's cache folder.
        java_options: Further options of Java, such as ``"-XX:TieredStopAtLevel=1"`` for a quicker start and slower
            records.
        progress: Told how far the fetching of Kafka is; by default that goes to standard error.
        seat: Its place in a cluster, which `KafkaCluster` gives it; its data then stays until the cluster's end.
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
        seat: Seat | None = None,
    ) -> None:
        self._settings = Settings(progress or StderrProgress(), version, heap, tuple(java_options))
        self._listeners = tuple(listeners) or (Listener("PLAINTEXT"),)
        self._properties = dict(properties or {})
        self._given_dir = Path(data_dir).absolute() if data_dir else None
        self._seat = seat
        self._plan: NodePlan | None = None
        self._process: GuardedProcess | None = None
        self._folder = Path()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def version(self) -> str:
        """Kafka's version."""
        return self._settings.version

    @property
    def bootstrap_servers(self) -> str:
        """The address of the first listener, ``host:port``."""
        return self._planned().listeners[0].address

    @property
    def internal_address(self) -> str:
        """The address of a listener without security, ``host:port``."""
        return self._planned().internal.address

    @property
    def data_dir(self) -> Path:
        """The folder with the broker's data, configuration and logs."""
        return self._planned().folder

    @property
    def log_file(self) -> Path:
        """The file that the broker logs to."""
        return self._planned().log_file

    @property
    def pid(self) -> int | None:
        """The process id of the broker's Java; none while it is stopped."""
        return self._process.pid if self._process else None

    @property
    def is_running(self) -> bool:
        """Whether the broker's process is there."""
        return self._process is not None and self._process.pid is not None and self._process.exit_code() is None

    @property
    def guard_pid(self) -> int | None:
        """The id of the process that ends the broker when this one dies; none while there is no broker."""
        return self._process.guard_pid if self._process else None

    def address(self, listener: str) -> str:
        """The address of a listener, ``host:port``.

        Args:
            listener: Its name.

        Raises:
            KeyError: There is no listener of that name.
        """
        return {found.name: found.address for found in self._planned().listeners}[listener]

    def log_tail(self) -> str:
        """The lines of its log that most likely say what went wrong."""
        return log_tail(self._planned())

    def start(self) -> None:
        """Start the broker and wait until it serves clients; nothing happens when it runs already.

        Raises:
            MachineError: Java is missing or too old, Kafka cannot be fetched, a port is taken, or the broker does not
                start; the message then holds the last lines of its log.
        """
        # Ports that clients know, or that a cluster has agreed on, are not exchanged for others
        attempts = _PORT_ATTEMPTS if self._plan is None and self._seat is None else 1
        for attempt in range(attempts):
            try:
                self.launch()
                return self.await_ready()
            except PortTakenError:
                self.close()
                if attempt == attempts - 1:
                    raise
                self._plan = None
            except BaseException:
                self.close()
                raise
        return None

    def stop(self) -> None:
        """End the broker cleanly; a temporary data folder is deleted, unless the broker is one of a cluster."""
        if self._seat is None:
            self.close()
        elif self._process:
            self._process.stop(_GRACE_SECONDS)

    def restart(self) -> None:
        """End the broker cleanly and start it again, with the same ports and the same data."""
        if self._process:
            self._process.stop(_GRACE_SECONDS)
        self.start()

    def kill(self) -> None:
        """End the broker at once, as a crash would (SIGKILL); `start` starts it again with the same data."""
        if self._process:
            self._process.stop(0)

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        config: Mapping[str, str] | None = None,
        replication: int | None = None,
    ) -> None:
        """Create a topic and wait until its partitions have leaders.

        Args:
            name: The topic.
            partitions: How many.
            config: Topic properties, such as ``{"cleanup.policy": "compact"}``.
            replication: Copies of each partition; by default as many as there are brokers, 3 at most.

        Raises:
            ClientError: The broker refuses it, because the topic exists or a property is wrong.
        """
        admin.create_topic([self.internal_address], name, partitions, replication, config)

    def launch(self) -> None:
        """Start the broker's process without waiting for it to serve clients."""
        if self.is_running:
            return
        program = find_program(self._settings)
        if self._process is None:
            self._folder = self._given_dir or Path(tempfile.mkdtemp(prefix="millrace-kafka-"))
            self._process = GuardedProcess(None if self._given_dir else self._folder)
        self._plan = self._make_plan(self._folder)
        self._process.start(program.prepare(self._plan), self._plan.console_file)

    def await_ready(self, nodes: frozenset[int] | None = None) -> None:
        """Wait until the broker serves clients.

        Args:
            nodes: The brokers that it must know to be up; by default itself.
        """
        plan = self._planned()
        if self._process is None:
            raise MachineError("the Kafka broker is not started")
        await_ready(plan, self._process.exit_code, nodes or frozenset([plan.seat.node_id]))

    def close(self) -> None:
        """End the broker and delete a temporary data folder."""
        if self._process is None:
            return
        if self._given_dir and self.pid:
            self._process.stop(_GRACE_SECONDS)
        # Without data to keep there is nothing that a clean end would be good for
        self._process.close()
        self._process = None

    def _planned(self) -> NodePlan:
        if self._plan is None:
            raise MachineError("the Kafka broker has no addresses and no data folder before it is started")
        return self._plan

    def _make_plan(self, folder: Path) -> NodePlan:
        folder.mkdir(parents=True, exist_ok=True)
        if self._plan:
            return dataclasses.replace(self._plan, folder=folder)
        return make_plan(folder, self._listeners, self._properties, self._seat)
