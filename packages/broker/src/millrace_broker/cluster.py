"""Several Kafka brokers that form one cluster, which runs as long as a ``with`` block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from millrace.errors import OptionsError
from millrace_broker.admin import PortTakenError, create_topic
from millrace_broker.broker import KafkaBroker
from millrace_broker.installation import DEFAULT_VERSION
from millrace_broker.listeners import Listener, free_ports
from millrace_broker.node import ClusterMember, new_id
from millrace_broker.progress import Progress

_PORT_ATTEMPTS = 4


class KafkaCluster:
    """Real Apache Kafka brokers on 127.0.0.1, each also a controller, which end with this process at the latest.

    Each of `brokers` can be stopped, killed and started on its own; its data are kept until the cluster is stopped.

    Args:
        brokers: Number of brokers; topics have this many replicas by default, 3 at most.
        listeners: As for `KafkaBroker`, the same for each broker; ports must be 0.
        properties: Further entries of each broker's ``server.properties``.
        heap: The maximum heap of each broker's Java.
        data_dir: Holds a folder for each broker and is kept; by default temporary folders that `stop` deletes.
        version: Kafka's version.
        java_options: Further JVM options.
        progress: Told how far the download of Kafka is; by default that goes to standard error.

    Raises:
        OptionsError: The number of brokers is below 1, or a listener has a port.
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
            raise OptionsError("cluster", (f"brokers is {brokers}; expected at least 1",))
        if any(listener.port for listener in listeners):
            raise OptionsError("cluster", ("the brokers cannot share a port; leave the ports of listeners at 0",))
        self._broker_count = brokers
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
        """The addresses of each broker's first listener, separated by commas."""
        return ",".join(broker.bootstrap_servers for broker in self.brokers)

    def start(self) -> None:
        """Start the brokers that do not run, and wait until all know each other and serve clients.

        Raises:
            MachineError: As for `KafkaBroker.start`.
        """
        attempts = 1 if self.brokers else _PORT_ATTEMPTS
        for attempt in range(attempts):
            self.brokers = self.brokers or self._make_brokers()
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
        """Stop all brokers; temporary data folders are deleted."""
        # Killed even where data are kept: the last ones would wait in vain for the quorum of a clean shutdown
        for broker in self.brokers:
            broker.kill()
        for broker in self.brokers:
            broker.close()

    def restart(self) -> None:
        """Kill all brokers and start them again, with the same ports and the same data."""
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
            partitions: Number of partitions.
            config: Topic properties, such as ``{"min.insync.replicas": "2"}``.
            replication: Replicas of each partition; by default as many as there are brokers, 3 at most.

        Raises:
            ClientError: The brokers refuse it, because the topic exists or a property is wrong.
            UnreachableError: Its leaders are not elected within 30 seconds.
        """
        addresses = [broker.internal_address for broker in self.brokers if broker.pid]
        create_topic(addresses, name, partitions, replication, config)

    def _start_all(self) -> None:
        for broker in self.brokers:
            broker.launch()
        nodes = frozenset(range(1, self._broker_count + 1))
        for broker in self.brokers:
            broker.await_ready(nodes)

    def _make_brokers(self) -> tuple[KafkaBroker, ...]:
        cluster_id = new_id()
        voters = dict(enumerate(free_ports(self._broker_count), start=1))
        return tuple(
            KafkaBroker(
                listeners=self._listeners,
                properties=self._properties,
                heap=self._heap,
                data_dir=self._data_dir / f"broker-{node}" if self._data_dir else None,
                version=self._version,
                java_options=self._java_options,
                progress=self._progress,
                member=ClusterMember(node, cluster_id, voters),
            )
            for node in voters
        )
