"""Transactions that tests leave open, and ``millrace transactions`` to run on them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from click.testing import CliRunner, Result
from confluent_kafka import Producer

from millrace.options.secrets import Properties
from millrace_cli.root import root
from millrace_cli.transactions.open_transactions import OpenTransaction, open_transactions
from support.kafka import transactional_producer
from support.retrying import flush

ABORT_ALL = ("--yes", "--older-than", "0s")


@dataclass
class OpenTransactions:
    """Transactions that a test leaves open on a broker; a test that has not ended them calls `end`."""

    servers: str
    prefix: str
    ids: set[str] = field(default_factory=set)

    def open(self, transactional_id: str, topic: str, *partitions: int) -> Producer:
        """Write a record to each partition in a transaction; it stays open when the returned producer is dropped."""
        self.ids.add(transactional_id)
        producer = self.producer(transactional_id)
        producer.begin_transaction()
        for partition in partitions:
            producer.produce(topic, b"left open", partition=partition)
        flush(producer)
        return producer

    def now(self, prefix: str | None = None) -> list[OpenTransaction]:
        """Find the open transactions."""
        return open_transactions(Properties({"bootstrap.servers": self.servers}), prefix or self.prefix)

    def ids_now(self, prefix: str | None = None) -> list[str]:
        """Find the ids of the open transactions."""
        return [each.transactional_id for each in self.now(prefix)]

    def end(self) -> None:
        """End all that was opened."""
        for transactional_id in self.ids:
            self.producer(transactional_id)

    def producer(self, transactional_id: str) -> Producer:
        """Create a producer with a transactional id, which ends the transaction of the one before it."""
        return transactional_producer(self.servers, transactional_id, **{"transaction.timeout.ms": 600_000})

    def run(self, command: str, *arguments: str) -> Result:
        """Run a command for the prefix."""
        return run_command(command, "--prefix", self.prefix, "--bootstrap-servers", self.servers, *arguments)


def run_command(*arguments: str) -> Result:
    """Run ``millrace transactions`` in this process."""
    return CliRunner().invoke(root, ["transactions", *arguments])


def shows(stdout: str, transactional_id: str) -> bool:
    """Tell whether a table shows a transaction as open."""
    return re.search(rf"^{transactional_id} +Ongoing ", stdout, re.MULTILINE) is not None
