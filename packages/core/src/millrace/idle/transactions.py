"""Name the transactions that hold back the last stable offset.

librdkafka cannot ask for them. The command line's package can, with kafka-python, and offers it by an entry point of
the group ``millrace.transaction_holders``.
"""

from __future__ import annotations

import importlib.metadata
import logging
from collections.abc import Collection
from typing import Any

from millrace.contracts import TopicPartition
from millrace.errors import MillraceError
from millrace.options.secrets import Properties

HOLDERS_GROUP = "millrace.transaction_holders"

logger = logging.getLogger("millrace.idle")


def describe_holders(client: Properties, partitions: Collection[TopicPartition]) -> list[dict[str, Any]] | None:
    """Return the open transactions in some partitions; None where they cannot be looked up.

    Args:
        client: Properties for the Kafka client.
        partitions: The partitions.

    Returns:
        For each the keys ``partition``, ``offset`` (its first), ``producer_id`` and ``transactional_id``.
    """
    for entry_point in importlib.metadata.entry_points(group=HOLDERS_GROUP):
        try:
            return list(entry_point.load()(client, partitions))
        except (ImportError, AttributeError, MillraceError) as error:
            logger.info("open transactions were not looked up: %s", error)
    return None
