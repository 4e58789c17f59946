from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from millrace.worker import RESOURCES, ResourceKind, WorkerResources
from support.clock import Clock


class Client:
    """A resource that counts its calls."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.closed = self.polled = 0
        self.is_busy = False
        self._failure = failure

    def close(self) -> None:
        self.closed += 1
        if self._failure:
            raise self._failure

    def poll(self) -> None:
        self.polled += 1


CLIENTS = ResourceKind[Client]("client", capacity=2, close=Client.close, poll=Client.poll)
OTHERS = ResourceKind[Client]("other client", capacity=1)


@pytest.fixture
def resources() -> WorkerResources:
    return WorkerResources()


def test_a_resource_is_created_once_for_each_key_and_kind(resources: WorkerResources) -> None:
    first = resources.get(CLIENTS, "a", Client)
    assert resources.get(CLIENTS, "a", Client) is first
    assert resources.get(CLIENTS, "b", Client) is not first
    assert resources.get(OTHERS, "a", Client) is not first


def test_the_least_recently_used_one_is_dropped_but_not_closed(resources: WorkerResources) -> None:
    first, second = (resources.get(CLIENTS, key, Client) for key in "ab")
    resources.get(CLIENTS, "a", Client)
    resources.get(CLIENTS, "c", Client)
    assert resources.items(CLIENTS).keys() == {"a", "c"}
    assert (first.closed, second.closed) == (0, 0)


def test_one_that_is_taken_belongs_to_its_taker(resources: WorkerResources) -> None:
    client = resources.get(CLIENTS, "a", Client)
    assert resources.take(CLIENTS, "a") is client
    assert resources.take(CLIENTS, "a") is None
    resources.poll()
    assert client.polled == 0
    resources.put(CLIENTS, "a", client)
    resources.poll()
    assert client.polled == 1


def test_all_are_closed_even_if_one_fails(resources: WorkerResources) -> None:
    clients = [resources.get(CLIENTS, key, lambda: Client(OSError("boo"))) for key in "ab"]
    resources.get(OTHERS, "a", Client)
    resources.close()
    assert [client.closed for client in clients] == [1, 1]
    assert (resources.items(CLIENTS), resources.items(OTHERS)) == ({}, {})


IDLE_CLIENTS = ResourceKind[Client]("client", capacity=4, max_idle_s=60, is_busy=lambda client: client.is_busy)


def test_one_that_no_task_uses_is_dropped_unless_it_is_busy() -> None:
    clock = Clock()
    resources = WorkerResources(clock)
    for key in ("used", "idle", "busy"):
        resources.get(IDLE_CLIENTS, key, Client)
    resources.items(IDLE_CLIENTS)["busy"].is_busy = True
    resources.get(CLIENTS, "without a limit", Client)
    clock.now += 50
    resources.get(IDLE_CLIENTS, "used", Client)
    clock.now += 11
    resources.begin_task()
    assert resources.items(IDLE_CLIENTS).keys() == {"used", "busy"}
    assert resources.items(CLIENTS).keys() == {"without a limit"}
    resources.items(IDLE_CLIENTS)["busy"].is_busy = False
    resources.begin_task()
    assert resources.items(IDLE_CLIENTS).keys() == {"used"}


def in_a_fork(check: Callable[[], bool]) -> bool:
    child = os.fork()
    if not child:
        os._exit(not check())
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_fork_has_none_of_its_parents_resources() -> None:
    client = RESOURCES.get(CLIENTS, "a", Client)
    try:
        assert in_a_fork(lambda: RESOURCES.items(CLIENTS) == {} and client.closed == 0)
        assert RESOURCES.items(CLIENTS) == {"a": client}
    finally:
        RESOURCES.drop(CLIENTS)
