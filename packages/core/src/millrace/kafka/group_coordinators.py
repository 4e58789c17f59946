"""Tell brokers whose group coordinators can lose an offset that a transaction has committed: Kafka before 4.0.

Where a commit of offsets is sent again, and its first copy arrives in the next transaction of the transactional id,
they refuse the copy, and forget what that transaction commits for the same partition until they load the group.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

from millrace.errors import ClientError
from millrace.kafka.raw_login import open_connection
from millrace.kafka.raw_requests import BrokerAddress, NotKafkaError, ask_for_versions

_TXN_OFFSET_COMMIT = 28
_FIRST_VERSION = 5
"""That of KIP-890, in releases that have the coordinators of KIP-848 alone."""

_MOST_AT_ONCE = 8


def can_lose_offsets(brokers: Iterable[BrokerAddress], settings: Mapping[str, Any]) -> bool:
    """Return whether any broker can lose offsets, as far as can be known: one that does not answer can.

    Args:
        brokers: All brokers of the cluster.
        settings: The settings of a Kafka client, from `client_settings`.
    """
    with ThreadPoolExecutor(_MOST_AT_ONCE) as pool:
        return not all(pool.map(lambda broker: _keeps_offsets(broker, settings), brokers))


def _keeps_offsets(broker: BrokerAddress, settings: Mapping[str, Any]) -> bool:
    try:
        with closing(open_connection(broker.host, broker.port, settings)) as connection:
            return ask_for_versions(connection).get(_TXN_OFFSET_COMMIT, 0) >= _FIRST_VERSION
    except (OSError, NotKafkaError, ClientError):
        return False
