"""Several Kafka brokers that form one cluster, which runs as long as a ``with`` block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from millrace.errors import OptionsError
from millrace_broker.broker import KafkaBroker
from millrace_broker.installation import DEFAULT_VERSION
from millrace_broker.listeners import Listener, free_ports
from millrace_broker.local_kafka import LocalKafka, start_on_free_ports
from millrace_broker.node import ClusterMember, new_id
from millrace_broker.progress import Progress


class KafkaCluster(LocalKafka):
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

    @property
    def bootstrap_servers(self) -> str:
        """The addresses of each broker's first listener, separated by commas."""
        return ",".join(broker.bootstrap_servers for broker in self.brokers)

    def start(self) -> None:
        """Start the brokers that do not run, and wait until all know each other and serve clients.

        Raises:
            MachineError: As for `KafkaBroker.start`.
        """
        start_on_free_ports(self._start_all, None if self.brokers else self._forget_brokers)

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

    def _internal_addresses(self) -> list[str]:
        return [broker.internal_address for broker in self.brokers if broker.pid]

    def _start_all(self) -> None:
        self.brokers = self.brokers or self._make_brokers()
        nodes = frozenset(range(1, self._broker_count + 1))
        try:
            for broker in self.brokers:
                broker.launch()
            for broker in self.brokers:
                broker.await_ready(nodes)
        except BaseException:
            self.stop()
            raise

    def _forget_brokers(self) -> None:
        self.brokers = ()

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
