"""Name the transactions that hold back readers of committed messages, for ``millrace.why``."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from millrace.contracts import TopicPartition
from millrace.options.secrets import Properties
from millrace_cli.transactions.admin import TransactionsAdmin


def find_holders(client: Properties, partitions: Collection[TopicPartition]) -> list[dict[str, Any]]:
    """Return the open transactions in some partitions, the first of each partition first.

    Raises:
        ClientError: The brokers refuse, or do not answer.
        MachineError: The library that asks for them is not installed.
    """
    found = TransactionsAdmin(client).open_producers(partitions)
    return [
        {**each._asdict(), "partition": str(TopicPartition(*each.partition))}
        for each in sorted(found, key=lambda each: (each.partition, each.offset))
    ]
