"""Queries with asynchronous progress tracking whose driver is killed."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from millrace.offset_log import OffsetLogEntry
from support.families import Family
from support.kafka import consume, produce
from support.waiting import wait_until

PROGRAM = Path(__file__).parents[1] / "programs" / "copy_with_async_progress.py"
PARTITIONS, RECORDS = 2, 4_000
INTERVAL_MS = 1_000

pytestmark = pytest.mark.usefixtures("nothing_left")


def logged_batches(checkpoint: Path) -> list[int]:
    """The micro-batches that the log says are written."""
    return [int(file.name) for file in (checkpoint / "commits").glob("[0-9]*")]


def skips_batches(checkpoint: Path) -> bool:
    """Return whether the log has entries, but not of all micro-batches: the first may take as long as the interval."""
    logged = logged_batches(checkpoint)
    return len(logged) > 2 and max(logged) >= len(logged)


def committed_ends(checkpoint: Path) -> dict[int, int]:
    """The offsets up to which the log says that records were written, by partition."""
    last = max(logged_batches(checkpoint))
    (offset,) = OffsetLogEntry.parse((checkpoint / "offsets" / str(last)).read_text()).stream_offsets().values()
    return {place.partition: end for place, end in offset.positions.items()}


def written(broker, topic: str) -> Counter[tuple[int, int]]:
    """The records of a topic by the partitions and offsets that they were read from."""
    places = (message.value().decode().split(":") for message in consume(broker.bootstrap_servers, topic))
    return Counter((int(partition), int(offset)) for partition, offset in places)


def test_a_restart_repeats_what_was_written_since_the_last_entry_of_the_log(broker, connection, make_topic, tmp_path):
    source, target, checkpoint = make_topic(PARTITIONS), make_topic(3), tmp_path / "checkpoint"
    places = [(partition, offset) for offset in range(RECORDS) for partition in range(PARTITIONS)]
    produce(
        broker.bootstrap_servers,
        source,
        ({"partition": partition, "value": b"%d:%d" % (partition, offset)} for partition, offset in places),
    )
    read = {**connection, "topic": source, "scan.startup.mode": "earliest-offset", "scan.max-records-per-batch": "100"}
    write = {**connection, "topic": target, "checkpointLocation": str(checkpoint)}
    given = json.dumps({"read": read, "write": write, "interval_ms": INTERVAL_MS})

    def driver() -> Family:
        return Family([sys.executable, str(PROGRAM), given], tmp_path / "console")

    with driver() as running:
        wait_until(
            lambda: skips_batches(checkpoint), "a log that skips micro-batches, as one written asynchronously does"
        )
        running.kill()
    before, ends = written(broker, target), committed_ends(checkpoint)
    assert 0 < sum(before.values()) < len(places)
    assert all(before[partition, offset] == 1 for partition, end in ends.items() for offset in range(end))

    with driver():
        wait_until(lambda: written(broker, target).keys() == set(places), "all records to be written")

    repeated = {place for place, count in written(broker, target).items() if count > 1}
    assert repeated == {(partition, offset) for partition, offset in before if offset >= ends[partition]}
