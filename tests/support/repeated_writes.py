"""A task of an exactly-once query, which workers of this process run micro-batch by micro-batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa

from millrace.configuration.build import configure_sink
from millrace.sink import pipeline
from millrace.sink.preflight import prepare
from millrace.sink.write_task import WriteResult, WriteTask
from millrace.worker import WorkerResources
from millrace_broker import KafkaBroker
from support.kafka import consume

SCHEMA = pa.schema([("value", pa.binary())])
ROWS = 50
"""The number of rows of a micro-batch."""


@dataclass
class WritingTask:
    """A task, which a worker runs again and again.

    Attributes:
        servers: Where its worker reaches the brokers.
        topic: The topic, whose name is the prefix too.
        index: Its index.
        resources: Those of its worker.
    """

    servers: str
    topic: str
    index: int = 0
    resources: WorkerResources = field(default_factory=WorkerResources)

    def write(self, batch: int, rows: Iterator[pa.RecordBatch] | None = None) -> WriteResult:
        """Write the rows of a micro-batch."""
        guarantee = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": self.topic}
        # Records are on their way before the last row
        connection = {"properties.bootstrap.servers": self.servers, "properties.linger.ms": "0"}
        config = prepare(configure_sink({**connection, **guarantee, "topic": self.topic}))
        task = WriteTask(self.index, 0, "query", batch, is_streaming=True)
        return pipeline.write(config, SCHEMA, rows or rows_of(batch, self.index), task, resources=self.resources)

    def move(self) -> None:
        """Let another worker run the task."""
        self.resources.close()
        self.resources = WorkerResources()


def rows_of(batch: int, index: int = 0) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a task, which name themselves."""
    yield pa.record_batch([pa.array([text.encode() for text in _texts(batch, index)])], schema=SCHEMA)


def expected(batches: Iterable[int], tasks: int = 1) -> Counter[str]:
    """Return each row of micro-batches once."""
    return Counter(text for batch in batches for index in range(tasks) for text in _texts(batch, index))


def written(broker: KafkaBroker, topic: str) -> Counter[str]:
    """Count how often each row is there."""
    return Counter(each.value().decode() for each in consume(broker.bootstrap_servers, topic))


def _texts(batch: int, index: int) -> list[str]:
    return [f"{batch}:{index}:{number}" for number in range(ROWS)]
