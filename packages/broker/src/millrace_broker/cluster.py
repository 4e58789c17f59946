"""Several Kafka brokers that form one cluster, for as long as a ``with`` block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from millrace.errors import OptionsError
from millrace_broker import admin
from millrace_broker.broker import KafkaBroker
from millrace_broker.install import DEFAULT_VERSION
from millrace_broker.listener import Listener
from millrace_broker.plan import Seat
from millrace_broker.ports import free_ports
from millrace_broker.progress import Progress
from millrace_broker.readiness import PortTakenError
from millrace_broker.storage import new_id

_PORT_ATTEMPTS = 4


class KafkaCluster:
    """Real Apache Kafka brokers on 127.0.0.1, each also a controller, which end with this process at the latest.

    Each of `brokers` can be stopped, killed and started by itself; its data stay until the cluster is stopped.

    Args:
        brokers: How many; topics have this many replicas by default, 3 at most.
        listeners: As for `KafkaBroker`, the same for each broker; ports must be 0.
        properties: Further entries of each broker's ``server.properties``.
        heap: The largest heap of each broker's Java.
        data_dir: Holds a folder for each broker and is kept; by default temporary folders that `stop` deletes.
        version: Kafka's version.
        java_options: Further options of Java.
        progress: Told how far the fetching of Kafka is.

    Raises:
        OptionsError: There is to be no broker, or a listener has a port.
    """

    def __init__(
        self,
        brokers: int = 3,
        *,
        listeners: Sequence[Listener] = (),
        properties: Mapping[str, str] | None = None,
        heap: str = "384m",
        data_dir: str | Path | None = None,
        version: str = DEFAULT_VERSION,
        java_options: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> None:
        if brokers < 1:
            raise OptionsError("cluster", (f"brokers is {brokers}, but there must be one at least",))
        if any(listener.port for listener in listeners):
            raise OptionsError("cluster", ("the brokers cannot share a port; leave the ports of listeners at 0",))
        self._count = brokers
        self._data_dir = Path(data_dir) if data_dir else None
        self._listeners, self._properties = tuple(listeners), dict(properties or {})
        self._heap, self._version, self._java_options, self._progress = heap, version, tuple(java_options), progress
        self.brokers: tuple[KafkaBroker, ...] = ()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def bootstrap_servers(self) -> str:
        """The address of the first listener of each broker, with commas between."""
        return ",".join(broker.bootstrap_servers for broker in self.brokers)

    def start(self) -> None:
        """Start the brokers that do not run, and wait until all know each other and serve clients.

        Raises:
            MachineError: As for `KafkaBroker.start`.
        """
        attempts = 1 if self.brokers else _PORT_ATTEMPTS
        for attempt in range(attempts):
            self.brokers = self.brokers or self._seated()
            try:
                return self._start_all()
            except PortTakenError:
                self.stop()
                if attempt == attempts - 1:
                    raise
                self.brokers = ()
            except BaseException:
                self.stop()
                raise
        return None

    def stop(self) -> None:
        """End all brokers; temporary data folders are deleted."""
        # At once where data are kept, too: the last ones would wait in vain for the majority that a clean end needs
        for broker in self.brokers:
            broker.kill()
        for broker in self.brokers:
            broker.close()

    def restart(self) -> None:
        """End all brokers and start them again, with the same ports and the same data."""
        for broker in self.brokers:
            broker.kill()
        self.start()

    def create_topic(
        self,
        name: str,
        partitions: int = 1,
        config: Mapping[str, str] | None = None,
        replication: int | None = None,
    ) -> None:
        """Create a topic and wait until every broker that runs knows the leaders of its partitions.

        Args:
            name: The topic.
            partitions: How many.
            config: Topic properties, such as ``{"min.insync.replicas": "2"}``.
            replication: Copies of each partition; by default as many as there are brokers, 3 at most.

        Raises:
            ClientError: The brokers refuse it, because the topic exists or a property is wrong.
        """
        running = [broker.internal_address for broker in self.brokers if broker.pid]
        admin.create_topic(running, name, partitions, replication, config)

    def _start_all(self) -> None:
        for broker in self.brokers:
            broker.launch()
        nodes = frozenset(range(1, self._count + 1))
        for broker in self.brokers:
            broker.await_ready(nodes)

    def _seated(self) -> tuple[KafkaBroker, ...]:
        cluster_id = new_id()
        voters = dict(enumerate(free_ports(self._count), start=1))
        return tuple(
            KafkaBroker(
                listeners=self._listeners,
                properties=self._properties,
                heap=self._heap,
                data_dir=self._data_dir / f"broker-{node}" if self._data_dir else None,
                version=self._version,
                java_options=self._java_options,
                progress=self._progress,
                seat=Seat(node, cluster_id, voters),
            )
            for node in voters
        )
