"""Write "a" and "b" exactly once as an attempt of a task that waits before it commits; the argument is JSON."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pyarrow as pa

from millrace.configuration.build import configure_sink
from millrace.kafka.transactional_producer import TransactionalProducer
from millrace.sink.pipeline import write
from millrace.sink.preflight import prepare
from millrace.sink.write_task import WriteTask

given = json.loads(sys.argv[1])
ready = Path(given["ready"])
commit = TransactionalProducer.commit_transaction


def commit_later(producer, notes):
    ready.touch()
    while ready.exists():
        time.sleep(0.01)
    commit(producer, notes)


TransactionalProducer.commit_transaction = commit_later
schema = pa.schema([("value", pa.binary())])
rows = [pa.record_batch([pa.array([b"a", b"b"])], schema=schema)]
task = WriteTask(0, 0, given["query"], given["batch"], is_streaming=True)
timeout_s = given.get("successor_timeout_s", 10.0)
print(write(prepare(configure_sink(given["options"])), schema, rows, task, successor_timeout_s=timeout_s))
