"""A topic of a table with a primary key in memory, and streams that read it without Spark and without a broker."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import pyarrow as pa
from confluent_kafka import Message

from millrace.checkpoint import StreamOffset
from millrace.configuration import SourceConfig
from millrace.configuration.build import configure_source
from millrace.contracts import TopicPartition
from millrace.records.messages import Messages
from millrace.source.enumerator.planner import plan_micro_batch
from millrace.source.enumerator.state_preparation import StatePreparation
from millrace.source.reader.dead_letters import DiscardingCollector
from millrace.source.reader.error_policy import ErrorPolicy
from millrace.source.reader.split_metrics import SplitMetrics
from millrace.source.reader.table_changes import TableReader
from millrace.source.splits import Split

PARTITION = TopicPartition("orders", 0)
SCHEMA = pa.schema([("row_kind", pa.string()), ("id", pa.int64()), ("name", pa.string())])

Row = dict[str, Any]


def row(key: int, name: str | None) -> tuple[bytes, bytes | None]:
    """A message; None deletes."""
    value = None if name is None else json.dumps({"id": key, "name": name}).encode()
    return json.dumps({"id": key}).encode(), value


class Topic:
    """The messages of one partition, by their offsets; compaction removes some.

    Attributes:
        headers: By offset the headers of messages that have any.
    """

    def __init__(self, *messages: tuple[bytes | None, bytes | None]) -> None:
        self.messages = dict(enumerate(messages))
        self.headers: dict[int, list[tuple[str, bytes]]] = {}
        self.fetched: list[tuple[int, int]] = []
        self.batch_size = 3

    def append(self, *messages: tuple[bytes | None, bytes | None]) -> None:
        self.messages |= dict(enumerate(messages, self.end))

    @property
    def end(self) -> int:
        return max(self.messages, default=-1) + 1

    def compact(self) -> None:
        """Remove all messages but the last of each key, and deletions too."""
        last = {json.loads(key)["id"]: offset for offset, (key, _) in self.messages.items() if key}
        kept = {offset for offset in last.values() if self.messages[offset][1] is not None} | {self.end - 1}
        self.messages = {offset: each for offset, each in self.messages.items() if offset in kept}

    def fetch(self, split: Split) -> Iterable[Messages]:
        for each in split.ranges:
            self.fetched.append((each.start, each.end))
            topic, partition = each.partition
            items = [
                Message(
                    topic=topic,
                    partition=partition,
                    offset=offset,
                    timestamp=(1, 1_000 + offset),
                    key=k,
                    value=v,
                    headers=self.headers.get(offset),
                )
                for offset, (k, v) in sorted(self.messages.items())
                if each.start <= offset < each.end
            ]
            for at in range(0, len(items), self.batch_size):
                yield Messages(each.partition, items[at : at + self.batch_size])


class Stream:
    """A streaming query, run by run, and its checkpoint.

    Args:
        topic: What it reads.
        folder: For its state.
        schema: Its columns.
        options: Further options.
    """

    table: ClassVar[Mapping[str, str]] = {
        "connector": "upsert-kafka",
        "key.format": "json",
        "key.fields": "id",
        "value.format": "json",
    }

    def __init__(self, topic: Topic, folder: Path, schema: pa.Schema = SCHEMA, **options: str) -> None:
        self.topic, self.folder, self.schema, self.options = topic, folder, schema, options
        self.offsets = [0]
        # Whether Spark's offset log leaves micro-batches out, so that it names none that a restart does not repeat
        self.log_is_sparse = False
        self.metrics = SplitMetrics()
        # What handled the malformed messages of the last attempt, and what it calls before it ends
        self.error_policy: ErrorPolicy | None = None
        self.before_end: Callable[[ErrorPolicy], None] | None = None
        self.restart()

    def restart(self) -> None:
        """Begin a new run."""
        self._preparation = StatePreparation(self.config("driver").options)

    def config(self, host: str) -> SourceConfig:
        return configure_source(
            {
                "properties.bootstrap.servers": "h:1",
                "topic": "orders",
                **self.table,
                "state.checkpoints.dir": str(self.folder / "state"),
                "state.backend.local-dir": str(self.folder / host),
                **self.options,
            }
        )

    def plan(self, start: int, end: int) -> Split:
        """Plan a micro-batch."""
        first = {PARTITION: start} if start == self.offsets[0] else {}
        offsets = [StreamOffset({PARTITION: start}), StreamOffset({PARTITION: end}, first, owner="stream")]
        options = self.config("driver").options
        if not self.log_is_sparse:
            self._preparation.commit(offsets[0])
        (split,) = self._preparation.prepare(*offsets, plan_micro_batch(*offsets, options))
        return split

    def attempt(self, start: int, end: int, host: str = "a") -> Iterator[pa.RecordBatch]:
        """Read a micro-batch as one attempt of its task does."""
        config, split = self.config(host), self.plan(start, end)
        policy = ErrorPolicy(config.options, self.metrics, DiscardingCollector(), self.before_end)
        self.error_policy = policy
        reader = TableReader(config, self.schema, "UTC", self.topic.fetch, self.metrics, policy)
        yield from reader.read(split)

    def run(self, end: int | None = None, host: str = "a") -> list[Row]:
        """Read a micro-batch up to an offset, and put it into the checkpoint."""
        end = self.topic.end if end is None else end
        rows = [each for batch in self.attempt(self.offsets[-1], end, host) for each in batch.to_pylist()]
        self.offsets.append(end)
        return rows


class ChangeLogStream(Stream):
    """A streaming query over a change log, which is normalized by its primary key."""

    table: ClassVar[Mapping[str, str]] = {"value.format": "debezium-json", "changelog.primary-key": "id"}


def change(old: Row | None, new: Row | None) -> tuple[bytes, bytes]:
    """Return a message of Debezium."""
    op = "c" if old is None else "d" if new is None else "u"
    key = {"id": (old or new or {})["id"]}
    return json.dumps(key).encode(), json.dumps({"before": old, "after": new, "op": op}).encode()


def latest_rows(topic: Topic, schema: pa.Schema = SCHEMA, stream: type[Stream] = Stream, **options: str) -> list[Row]:
    """Read a topic as a batch."""
    with TemporaryDirectory() as folder:
        config = stream(topic, Path(folder), schema, **options).config("a")
        metrics = SplitMetrics()
        reader = TableReader(
            config, schema, "UTC", topic.fetch, metrics, ErrorPolicy(config.options, metrics, DiscardingCollector())
        )
        offsets = [StreamOffset({PARTITION: 0}), StreamOffset({PARTITION: topic.end})]
        splits = plan_micro_batch(*offsets, config.options)
        return [row for split in splits for batch in reader.read(split) for row in batch.to_pylist()]


def short(rows: Iterable[Row]) -> list[str]:
    """Changes as text."""
    return [f"{each['row_kind']} {each['id']} {each['name']}" for each in rows]
