"""A partitioner that stops a write at a chosen point; Python workers get this file by itself.

Named as ``kill_points:KillPoints`` in the option ``sink.partitioner``. Each file in a folder is good for one kill, or
for one stop, so that a test says how often.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from millrace.contracts import Partitioner, Payloads
from millrace.kafka.transactional_producer import TransactionalProducer
from millrace.options import option

SLOW_S = 15.0
"""Half as long again as a fenced attempt waits for a sign of life."""


class KillPoints(Partitioner):
    """A partitioner that leaves partitions to the client, and ends its worker at a chosen point."""

    @dataclass(frozen=True)
    class Options:
        """The point at which a worker ends, and how."""

        point: Literal["before produce", "before commit", "in commit", "after commit"] = option(
            "point", default="before produce", doc="Where to end."
        )
        tokens: str = option("tokens", default="", doc="A folder of files, each good for one end.")
        ends: Literal["kill", "wait", "lag"] = option(
            "ends", default="kill", doc="Kill this worker, wait to be killed, or make two attempts of task 0 slow."
        )

    def open(self, task_index: int, task_count: int) -> None:
        """Patch the worker, which lives on with the patch."""
        self._index = task_index
        if not hasattr(TransactionalProducer, "unpatched"):
            TransactionalProducer.unpatched = TransactionalProducer.commit_transaction
        TransactionalProducer.commit_transaction = patched(self.options, TransactionalProducer.unpatched)

    def partition(self, topic: str, keys: Payloads, values: Payloads, partition_count: int) -> pa.Int32Array:
        """Return null for every record."""
        if self.options.point == "before produce" and (self.options.ends != "lag" or self._index == 0):
            end(self.options)
        return pa.nulls(len(values), pa.int32())


def patched(options: KillPoints.Options, commit: Callable[..., None]) -> Callable[..., None]:
    def commit_and_end(self: Any, notes: Any) -> None:
        if options.point == "before commit":
            self.client.flush()
            end(options)
        if options.point == "in commit":
            for group, offset in notes.items():
                self.send_offset(group, offset)
            end(options)
        commit(self, notes)
        if options.point == "after commit":
            end(options)

    return commit_and_end


def end(options: KillPoints.Options) -> None:
    for token in Path(options.tokens).glob("token-*"):
        try:
            token.rename(token.with_name(f"used-{os.getpid()}-{token.name}"))
        except FileNotFoundError:
            continue
        if options.ends == "lag":
            lag(Path(options.tokens))
            return
        while options.ends == "wait":
            time.sleep(60)
        os.kill(os.getpid(), signal.SIGKILL)


def lag(tokens: Path) -> None:
    """Go on when there is a second attempt, which itself is slow."""

    def attempts() -> int:
        return len(list(tokens.glob("used-*")))

    if attempts() > 1:
        time.sleep(SLOW_S)
    while attempts() < 2:
        time.sleep(0.05)
