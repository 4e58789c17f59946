"""The properties of consumers by the size of what they read."""

from __future__ import annotations

import pytest

from millrace.kafka.fetch_sizes import for_ranges, many_at_once
from millrace.options.secrets import Properties

CLIENT = Properties({"bootstrap.servers": "127.0.0.1:1"})
KB, MB = 1 << 10, 1 << 20


def fetch_bytes(*sizes: float) -> int:
    return int(for_ranges(CLIENT, sizes).properties["fetch.message.max.bytes"])


@pytest.mark.parametrize(("size", "fetched"), [(1, 256 * KB), (MB, MB), (4 * MB, 4 * MB), (100 * MB, 4 * MB)])
def test_fetches_are_about_as_large_as_a_range(size: int, fetched: int) -> None:
    assert fetch_bytes(size) == fetched


def test_the_largest_of_several_ranges_counts() -> None:
    assert fetch_bytes(1, MB, 2) == MB


def test_a_small_range_of_one_partition_is_fetched_singly() -> None:
    assert for_ranges(CLIENT, [8 * MB]).is_single
    # Its reader would wait for every fetch
    assert not for_ranges(CLIENT, [9 * MB]).is_single
    # Partitions of other brokers would wait until they are looked at again
    several = for_ranges(CLIENT, [MB, MB])
    assert not several.is_single
    assert int(several.properties["fetch.queue.backoff.ms"]) <= 20


def test_consumers_are_few() -> None:
    of_one = {for_ranges(CLIENT, [size]).properties for size in range(1, 64 * MB, 10_000)}
    assert len(of_one) == 4


@pytest.mark.parametrize(
    "name",
    [
        "fetch.message.max.bytes",
        "fetch.max.bytes",
        "max.partition.fetch.bytes",
        "queued.min.messages",
        "queued.max.messages.kbytes",
        "fetch.queue.backoff.ms",
    ],
)
def test_a_users_own_sizes_are_left_as_they_are(name: str) -> None:
    client = Properties({**CLIENT, name: "500000"})
    assert for_ranges(client, [MB]) == (client, False)


def test_a_users_size_of_fetches_is_left_as_it_is_for_many_messages() -> None:
    assert many_at_once(CLIENT) != CLIENT
    client = Properties({**CLIENT, "max.partition.fetch.bytes": "500000"})
    assert many_at_once(client) == client
