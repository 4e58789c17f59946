"""Asks running brokers who is there, and makes topics on them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from millrace.errors import ClientError, UnreachableError

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient, ClusterMetadata

_POLL_SECONDS = 0.02
_ANSWER_SECONDS = 5.0


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Wait for a condition, looking every 20 ms; returns whether it came true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def admin_client(address: str) -> AdminClient:
    """A client that does not write to standard error while a broker comes or goes."""
    from confluent_kafka.admin import AdminClient

    return AdminClient({"bootstrap.servers": address, "log_level": 0, "log.connection.close": False})


def nodes_seen(address: str) -> frozenset[int]:
    """The brokers of the cluster that are up, as this one sees it; none when it does not answer."""
    metadata = _metadata(address)
    return frozenset(metadata.brokers) if metadata else frozenset()


def topic_names(address: str) -> frozenset[str]:
    """The topics of the cluster, as this broker sees it; none when it does not answer."""
    metadata = _metadata(address)
    return frozenset(metadata.topics) if metadata else frozenset()


def create_topic(
    addresses: Iterable[str], name: str, partitions: int, replication: int | None, config: Mapping[str, str] | None
) -> None:
    """Create a topic, and wait until each of these brokers knows the leaders of all its partitions.

    Args:
        addresses: A listener without security of each broker that runs.
        name: The topic.
        partitions: How many.
        replication: Copies of each partition; none for the broker's default.
        config: Topic properties, such as ``{"cleanup.policy": "compact"}``.

    Raises:
        ClientError: The broker refuses the topic, because it exists or a property is wrong.
        UnreachableError: Its leaders are not there after 30 seconds.
    """
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import NewTopic

    all_addresses = list(addresses)
    topic = NewTopic(name, partitions, -1 if replication is None else replication, config=dict(config or {}))
    # Kept in a variable: the request ends with its client
    client = admin_client(",".join(all_addresses))
    try:
        client.create_topics([topic], request_timeout=30)[name].result(timeout=35)
    except KafkaException as error:
        raise ClientError(f"topic {name!r} could not be created: {error.args[0].str()}") from error
    for address in all_addresses:
        if not wait_until(lambda at=address: _has_leaders(at, name, partitions), 30):  # type: ignore[misc]
            raise UnreachableError(f"topic {name!r} was created, but broker {address} does not see its leaders yet")


def _has_leaders(address: str, topic: str, partitions: int) -> bool:
    metadata = _metadata(address)
    found = metadata.topics.get(topic) if metadata else None
    if found is None or found.error or len(found.partitions) != partitions:
        return False
    return all(partition.leader >= 0 and not partition.error for partition in found.partitions.values())


def _metadata(address: str) -> ClusterMetadata | None:
    from confluent_kafka import KafkaException

    # A new client each time: one that lives on would ask whichever broker it has found by then
    try:
        return admin_client(address).list_topics(timeout=_ANSWER_SECONDS)
    except KafkaException:
        return None
