"""A stream of many short micro-batches takes no more memory, threads and sockets than one of few; hours are in soak."""

from __future__ import annotations

import dataclasses

import pytest

from millrace.monitoring.totals import MAX_CLIENTS
from millrace.options.secrets import Properties
from support.short_micro_batches import ShortMicroBatches, short_micro_batches, use
from support.waiting import wait_until

pytestmark = pytest.mark.nightly

GROWTH_BYTES = 2 << 20
"""Allocators' own; clients whose statistics nobody reads leave 8 KB every 5 ms, more than this in two seconds."""


@pytest.fixture
def stream(broker, make_topic):
    with short_micro_batches(broker.bootstrap_servers, make_topic(2)) as running:
        yield running


def test_micro_batches_leave_no_memory_threads_and_sockets_behind(stream: ShortMicroBatches) -> None:
    warm = stream.run(250)
    found = stream.run(350)
    assert found.memory - warm.memory < GROWTH_BYTES
    assert found.threads <= warm.threads
    assert found.sockets <= warm.sockets
    assert stream.reported()["clients"]


def test_workers_that_come_and_go_leave_no_statistics_behind(stream: ShortMicroBatches) -> None:
    stream.run(20)
    # Each has a consumer of its own, and is gone after its task
    clients: dict[str, None] = {}
    warm, workers, reader = None, 0, None

    def has_reported() -> bool:
        nonlocal workers, warm, reader
        workers += 1
        reader = worker(stream, f"worker-{workers}")
        assert stream.next(reader) == 1
        # Once more: the consumer has statistics by then
        assert stream.next(reader) == 1
        reported = client_ids(stream)
        assert len(reported) <= MAX_CLIENTS
        clients.update(dict.fromkeys(reported))
        if workers == 10:
            warm = use()
        return len(clients) > MAX_CLIENTS + 10

    wait_until(has_reported, "more clients than are kept")
    newest = f"worker-{workers}"

    def newest_has_reported() -> bool:
        assert stream.next(reader) == 1
        return newest in client_ids(stream)

    wait_until(newest_has_reported, "the statistics of the newest worker")
    # A worker on a busy machine may be gone before its client has any
    oldest = next(client for client in clients if client.startswith("worker-"))
    assert oldest not in client_ids(stream)
    assert len(client_ids(stream)) == MAX_CLIENTS
    wait_until(lambda: use().threads <= warm.threads + 4, "the threads of dropped consumers to end")


def client_ids(stream: ShortMicroBatches) -> set[str]:
    """Return the ids of the clients that have reported, without the numbers that follow."""
    return {name.partition("#")[0] for name in stream.reported()["clients"]}


def worker(stream: ShortMicroBatches, name: str):
    """The reader as a worker gets it whose consumers have a name of their own."""
    driver = stream.reader
    config = dataclasses.replace(driver._config, client=Properties({**driver._config.client, "client.id": name}))
    reader = object.__new__(type(driver))
    reader.__dict__.update(driver.__dict__, _config=config)
    return reader
