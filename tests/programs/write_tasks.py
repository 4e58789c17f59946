"""Write tasks exactly once as a Python worker of Spark does: from standard input, pickled, one after the other.

A task stops before or after its commit while the folder that is given has a file "before" or "after"; it has then a
file there which is named by process and thread.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
from pathlib import Path

from millrace import siblings
from millrace.errors import MillraceError
from millrace.kafka.transactional_producer import TransactionalProducer
from millrace.sink.pipeline import write

# A sibling that is slow to greet is not given up, so that it is known who writes a task
siblings.GREETING_TIMEOUT_S = 60
folder = Path(sys.argv[1])
commit = TransactionalProducer.commit_transaction


def stop(point):
    stopped = folder / f"stopped-{os.getpid()}-{threading.get_native_id()}"
    while (folder / point).exists():
        stopped.touch()
        time.sleep(0.01)
    stopped.unlink(missing_ok=True)


def stop_and_commit(producer, notes):
    producer.client.flush()
    stop("before")
    commit(producer, notes)
    stop("after")


TransactionalProducer.commit_transaction = stop_and_commit
while True:
    try:
        config, task, batches = pickle.load(sys.stdin.buffer)
    except EOFError:
        break
    try:
        answer = write(config, batches[0].schema, batches, task, successor_timeout_s=12.0)
    except MillraceError as error:
        answer = error
    pickle.dump(answer, sys.stdout.buffer)
    sys.stdout.buffer.flush()
