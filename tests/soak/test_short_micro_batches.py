"""A stream of thousands of short micro-batches takes no more memory, threads and sockets than one of hundreds."""

from __future__ import annotations

from support.short_micro_batches import short_micro_batches
from support.waiting import wait_until

GROWTH_BYTES = 4 << 20
"""Allocators' own: 2 KB per micro-batch."""


def test_2_000_short_micro_batches_take_no_more_memory_threads_and_sockets_than_300(broker, make_topic):
    with short_micro_batches(broker.bootstrap_servers, make_topic(2)) as stream:
        warm = stream.run(300)
        found = stream.run(2_000)

        def counts_all():
            # Reports come on their own; a micro-batch counts those that are there when it is planned
            stream.next()
            return sum(counts[0] for counts in stream.reported()["partitions"][stream.topic].values()) >= 2_300

        wait_until(counts_all, "all micro-batches to be counted")
        reported = stream.reported()
    print(f"{(found.memory - warm.memory) / 2_000:.0f} bytes per micro-batch; {warm}, then {found}")
    assert reported["missing"] == 0
    assert found.memory - warm.memory < GROWTH_BYTES
    assert found.threads <= warm.threads
    assert found.sockets <= warm.sockets
