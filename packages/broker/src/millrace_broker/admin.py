"""Query running brokers for their readiness and topics, and create topics."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from millrace.errors import ClientError, MachineError, UnreachableError
from millrace.kafka.retry import poll
from millrace_broker.listeners import is_free
from millrace_broker.node import NodeConfig

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient, ClusterMetadata

_POLL_SECONDS = 0.02
_METADATA_TIMEOUT_SECONDS = 5.0
_READY_TIMEOUT_SECONDS = 90.0
_LEADERS_TIMEOUT_SECONDS = 30.0
_LOG_TAIL_LINES = 12


class PortTakenError(MachineError):
    """Another program took a port between its choice and the broker's start."""


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Wait for a condition, checking every 20 ms; returns whether it came true in time."""
    return poll(condition, timeout_s=seconds, interval_s=_POLL_SECONDS)


def await_ready(
    config: NodeConfig,
    exit_code: Callable[[], int | None],
    nodes: frozenset[int],
    ports: Collection[int],
    *,
    timeout: float = _READY_TIMEOUT_SECONDS,
    metadata_timeout: float = _METADATA_TIMEOUT_SECONDS,
) -> None:
    """Wait until a started broker serves clients.

    Args:
        config: The broker.
        exit_code: Returns the exit code of its process; None while it runs.
        nodes: Ids of the nodes that it must know to be up.
        ports: The ports that it listens on.
        timeout: Seconds to wait.
        metadata_timeout: Seconds to wait for each answer of the broker.

    Raises:
        PortTakenError: It exited, and another program has one of its ports.
        MachineError: It exited, or it is not ready in time; the message holds the last lines of its log.
    """

    def exited_or_ready() -> bool:
        return exit_code() is not None or _is_ready(config, nodes, metadata_timeout)

    if not wait_until(exited_or_ready, timeout):
        raise MachineError(f"the Kafka broker was not ready after {timeout:g} seconds.\n{log_tail(config)}")
    code = exit_code()
    if code is None:
        return
    tail = log_tail(config)
    taken = next((port for port in ports if not is_free(port)), None)
    if taken is not None:
        raise PortTakenError(f"the Kafka broker exited while starting; another program has its port {taken}.\n{tail}")
    raise MachineError(f"the Kafka broker exited while starting, with code {code}.\n{tail}")


def log_tail(config: NodeConfig) -> str:
    """Return the log lines that most likely explain a failure, with the names of the log files."""
    # Only the newest start: a data folder that is kept holds the logs of earlier ones too
    log = _read_lines(config.log_file)[-400:]
    errors = [line for line in log if re.search(r" (ERROR|FATAL) |^Caused by|Exception: |Address already", line)]
    lines = (
        errors[-_LOG_TAIL_LINES:]
        or _read_lines(config.console_file)[-_LOG_TAIL_LINES:]
        or log[-_LOG_TAIL_LINES:]
        or ["(empty)"]
    )
    indented = "".join(f"\n    {line[:400]}" for line in lines)
    return f"From {config.log_file} and {config.console_file.name}:{indented}"


def partition_counts(address: str) -> dict[str, int]:
    """Return how many partitions each topic of a broker's cluster has; no topic when the broker does not answer."""
    metadata = _metadata(address)
    return {name: len(topic.partitions) for name, topic in metadata.topics.items()} if metadata else {}


def create_topic(
    addresses: Iterable[str], name: str, partitions: int, replication: int | None, config: Mapping[str, str] | None
) -> None:
    """Create a topic, and wait until each of these brokers knows the leaders of all its partitions.

    Args:
        addresses: A listener without security of each running broker.
        name: The topic.
        partitions: Number of partitions.
        replication: Replicas of each partition; None for the broker's default.
        config: Topic properties, such as ``{"cleanup.policy": "compact"}``.

    Raises:
        ClientError: The broker refuses the topic, because it exists or a property is wrong.
        UnreachableError: Its leaders are not elected within 30 seconds.
    """
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import NewTopic

    brokers = list(addresses)
    topic = NewTopic(name, partitions, -1 if replication is None else replication, config=dict(config or {}))
    # Kept in a variable: the request is cancelled when its client is garbage collected
    client = _admin_client(",".join(brokers))
    try:
        client.create_topics([topic], request_timeout=30)[name].result(timeout=35)
    except KafkaException as error:
        raise ClientError(f"topic {name!r} could not be created: {error.args[0].str()}") from error
    for address in brokers:
        if not wait_until(partial(_has_leaders, address, name, partitions), _LEADERS_TIMEOUT_SECONDS):
            raise UnreachableError(f"topic {name!r} was created, but broker {address} does not see its leaders yet")


def _is_ready(config: NodeConfig, nodes: frozenset[int], timeout: float) -> bool:
    # A plain connection first: Kafka's client would wait longer and longer between its own attempts
    try:
        socket.create_connection((config.internal.host, config.internal.port), timeout=1).close()
    except OSError:
        return False
    metadata = _metadata_of_broker(config.internal.address, timeout)
    return metadata is not None and nodes <= set(metadata.brokers)


def _has_leaders(address: str, topic: str, partitions: int) -> bool:
    metadata = _metadata_of_broker(address)
    description = metadata.topics.get(topic) if metadata else None
    if description is None or description.error or len(description.partitions) != partitions:
        return False
    return all(partition.leader >= 0 and not partition.error for partition in description.partitions.values())


def _metadata_of_broker(address: str, timeout: float = _METADATA_TIMEOUT_SECONDS) -> ClusterMetadata | None:
    """Return what this very broker knows; None when it does not answer, or another one of its cluster does."""
    metadata = _metadata(address, timeout)
    # Even a new client discovers the cluster first, and then asks any broker of it
    if metadata and (len(metadata.brokers) == 1 or metadata.orig_broker_name.startswith(f"{address}/")):
        return metadata
    return None


def _metadata(address: str, timeout: float = _METADATA_TIMEOUT_SECONDS) -> ClusterMetadata | None:
    from confluent_kafka import KafkaException

    # A new client each time: an existing one would pause longer and longer before it connects again
    try:
        return _admin_client(address).list_topics(timeout=timeout)
    except KafkaException:
        return None


def _admin_client(address: str) -> AdminClient:
    from confluent_kafka.admin import AdminClient

    # Silent: it would log to standard error while a broker starts or stops
    return AdminClient({"bootstrap.servers": address, "log_level": 0, "log.connection.close": False})


def _read_lines(path: Path) -> list[str]:
    return path.read_text(errors="replace").splitlines() if path.exists() else []
