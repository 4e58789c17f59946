"""Write records at a steady rate until standard input ends; each has the time of its writing, in ns since 1970.

It is a process of its own, so that it does not take turns with the code that measures.
"""

from __future__ import annotations

import sys
import threading
import time

from confluent_kafka import Producer

_STEP_S = 0.01


def main(servers: str, topic: str, partitions: int, rate: int) -> None:
    """Write ``rate`` records a second, to the partitions in turn."""
    stop = threading.Event()
    threading.Thread(target=set_at_end_of_input, args=(stop,), daemon=True).start()
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 1})
    started, sent = time.monotonic(), 0
    while not stop.wait(_STEP_S):
        due = int((time.monotonic() - started) * rate)
        for index in range(sent, due):
            producer.produce(
                topic,
                b'{"id": %d, "user": "user-%06d", "amount": 1.5, "at": %d}' % (index, index % 1000, time.time_ns()),
                partition=index % partitions,
            )
        sent = max(sent, due)
        producer.poll(0)
    producer.flush(5)


def set_at_end_of_input(stop: threading.Event) -> None:
    """Set an event when standard input ends."""
    sys.stdin.read()
    stop.set()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
