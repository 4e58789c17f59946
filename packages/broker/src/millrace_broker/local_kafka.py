"""The parts that a broker and a cluster share: free ports at the start, topics."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence

from millrace.kafka.retry import call_with_retries
from millrace_broker.admin import PortTakenError, create_topic
from millrace_broker.local_server import LocalServer

_NEW_PORTS_SECONDS = 20.0


class LocalKafka(LocalServer):
    """Apache Kafka on 127.0.0.1, which this process starts and which ends with it at the latest."""

    @abstractmethod
    def _internal_addresses(self) -> Sequence[str]:
        """Return the address between brokers of each broker that runs."""

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
            config: Topic properties, such as ``{"cleanup.policy": "compact"}``.
            replication: Replicas of each partition; by default as many as there are brokers, 3 at most.

        Raises:
            ClientError: The brokers refuse it, because the topic exists or a property is wrong.
            UnreachableError: Its leaders are not elected within 30 seconds.
        """
        create_topic(self._internal_addresses(), name, partitions, replication, config)


def start_on_free_ports(start: Callable[[], None], choose_other_ports: Callable[[], None] | None) -> None:
    """Start brokers, on other ports where another program has taken theirs since they were chosen.

    Args:
        start: Starts them.
        choose_other_ports: Called before they are restarted; None where their ports must stay.

    Raises:
        PortTakenError: Ports are taken again and again, or must stay.
        MachineError: As `start`.
    """
    call_with_retries(
        start,
        lambda error: choose_other_ports is not None and isinstance(error, PortTakenError),
        _NEW_PORTS_SECONDS,
        interval_s=0.0,
        before_retry=choose_other_ports,
    )
