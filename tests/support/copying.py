"""Queries that copy the numbers of one topic to another exactly once, with points where they are killed."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.families import Family
from support.kafka import consume, wait_for_markers
from support.open_transactions import open_transactions, transactional_ids

KILL_POINTS = Path(__file__).parent / "kill_points.py"
PROGRAM = Path(__file__).parents[1] / "programs" / "copy_once.py"


@dataclass
class Copy:
    """A query that copies a topic.

    Attributes:
        servers: The brokers.
        source: The topic with ascending numbers.
        target: Where they are copied.
        folder: For checkpoint and tokens.
        guarantee: The delivery guarantee.
        read: Other options of the source.
        queries: What was started in a session.
    """

    servers: str
    source: str
    target: str
    folder: Path
    guarantee: str = "exactly-once"
    read: dict[str, str] = field(default_factory=dict)
    queries: list[Any] = field(default_factory=list)

    @property
    def prefix(self) -> str:
        """The prefix of the transactional ids: the target's name, which no other test has."""
        return f"copy-{self.target}"

    def read_options(self) -> dict[str, str]:
        """Micro-batches of 1,000 records."""
        return {
            "properties.bootstrap.servers": self.servers,
            "topic": self.source,
            "scan.startup.mode": "earliest-offset",
            "scan.max-records-per-batch": "1000",
            **self.read,
        }

    def write_options(self, point: str | None = None, ends: str = "kill") -> dict[str, str]:
        """Return the options of the sink, with a kill point when one is asked for."""
        options = {
            "properties.bootstrap.servers": self.servers,
            "topic": self.target,
            "sink.delivery-guarantee": self.guarantee,
            "checkpointLocation": str(self.folder / "checkpoint"),
        }
        if self.guarantee == "exactly-once":
            options["sink.transactional-id-prefix"] = self.prefix
        if point is not None:
            options["sink.partitioner"] = "kill_points:KillPoints"
            options["sink.partitioner.point"] = point
            options["sink.partitioner.tokens"] = str(self.tokens)
            options["sink.partitioner.ends"] = ends
        return options

    @property
    def tokens(self) -> Path:
        """The folder whose files are each good for one kill."""
        folder = self.folder / "tokens"
        folder.mkdir(exist_ok=True)
        return folder

    def give_tokens(self, count: int) -> None:
        """Allow kills."""
        already = len(list(self.tokens.iterdir()))
        for number in range(already, already + count):
            (self.tokens / f"token-{number}").touch()

    def used(self) -> int:
        """Count the kills and stops so far."""
        return len(list(self.tokens.glob("used-*")))

    def start(self, spark: Any, point: str | None = None, *, ends: bool = True) -> Any:
        """Start the query in a session; it ends at the topic's end, or never."""
        rows = spark.readStream.format("millrace").options(**self.read_options()).load().select("key", "value")
        writer = rows.writeStream.format("millrace").options(**self.write_options(point))
        query = (writer.trigger(availableNow=True) if ends else writer).start()
        self.queries.append(query)
        return query

    def stop(self) -> None:
        """Stop all queries of sessions."""
        for query in self.queries:
            query.stop()

    @contextmanager
    def driver(self, point: str | None = None, ends: str = "wait", **given: Any) -> Iterator[Family]:
        """Start the query in a driver of its own, which is killed at the block's end."""
        arguments = {
            "read": self.read_options(),
            "write": self.write_options(point, ends),
            "kill_points": str(KILL_POINTS),
            **given,
        }
        with Family([sys.executable, str(PROGRAM), json.dumps(arguments)], self.folder / "console") as running:
            yield running

    def transactional_ids(self) -> set[str]:
        """The ids of the query that the brokers know, open or not."""
        return transactional_ids(self.servers, self.prefix)

    def open_transactions(self) -> dict[str, int]:
        """Return when the open transactions of the query began, in ms since 1970 UTC, by transactional id."""
        return open_transactions(self.servers, self.prefix)

    def copied(self) -> Counter[int]:
        """Count the numbers in the target."""
        wait_for_markers(self.servers, self.target)
        return Counter(int(message.value()) for message in consume(self.servers, self.target))
