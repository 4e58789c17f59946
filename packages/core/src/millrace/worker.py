"""Resources that a worker process keeps from task to task: Kafka clients, sessions, connections to the driver.

Spark runs many short tasks in one Python process, and a Kafka client is expensive to start. Whatever outlives a task is
kept in one registry, `RESOURCES`, so that there is one place that bounds it, serves it and closes it.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

logger = logging.getLogger("millrace")

CLIENT_MAX_IDLE_S = 600.0
"""Time for which a Kafka client is kept without a task that uses it, in seconds.

Nothing tells a worker that a query has ended. It is longer than librdkafka's default limit for delivering a record.
"""

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ResourceKind(Generic[T]):
    """A kind of resource; each module that keeps resources declares its own.

    Attributes:
        name: For log messages.
        capacity: The number of resources to keep; beyond it, the least recently used one is dropped.
        close: Closes a resource when the registry is closed; None if dropping it suffices. A resource that is dropped
            before is not closed, since a task may still be using it.
        poll: Serves the callbacks of a resource that no task is using; None if it has none.
        max_idle_s: The time after which a resource that no task has used is dropped, in seconds; None if it is kept.
        is_busy: Whether an idle resource still has work to do, and must not be dropped; None if it never has.
    """

    name: str
    capacity: int
    close: Callable[[T], object] | None = None
    poll: Callable[[T], object] | None = None
    max_idle_s: float | None = None
    is_busy: Callable[[T], bool] | None = None


@dataclass(slots=True)
class _Kept:
    """A resource, and when it was last used."""

    resource: Any
    used_at: float


class WorkerResources:
    """The resources of a process, least recently used first. Safe to use from several threads.

    Args:
        now: A clock, in seconds, that tells how long resources are idle.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.RLock()
        self._kept: dict[ResourceKind[Any], OrderedDict[Hashable, _Kept]] = {}
        self._inherited: list[object] = []

    def get(self, kind: ResourceKind[T], key: Hashable, create: Callable[[], T]) -> T:
        """Return the resource for a key, creating it on first use.

        Args:
            kind: The kind of resource.
            key: Identifies it within its kind.
            create: Creates it. If two threads do so at once, both get the one that was kept first.
        """
        with self._lock:
            resource = self._use(kind, key)
        if resource is not None:
            return resource
        created = create()
        with self._lock:
            resource = self._use(kind, key)
            if resource is None:
                self.put(kind, key, created)
                return created
        return resource

    def put(self, kind: ResourceKind[T], key: Hashable, resource: T) -> None:
        """Keep a resource, as the most recently used of its kind."""
        with self._lock:
            resources = self._of_kind(kind)
            resources[key] = _Kept(resource, self._now())
            resources.move_to_end(key)
            while len(resources) > kind.capacity:
                resources.popitem(last=False)

    def take(self, kind: ResourceKind[T], key: Hashable) -> T | None:
        """Remove a resource and return it; None if there is none."""
        with self._lock:
            entry = self._of_kind(kind).pop(key, None)
        return None if entry is None else entry.resource

    def items(self, kind: ResourceKind[T]) -> dict[Hashable, T]:
        """All resources of a kind by their keys."""
        with self._lock:
            return {key: entry.resource for key, entry in self._of_kind(kind).items()}

    def drop(self, kind: ResourceKind[Any]) -> None:
        """Forget all resources of a kind without closing them."""
        with self._lock:
            self._of_kind(kind).clear()

    def poll(self) -> None:
        """Serve the callbacks of all resources, which would pile up in those that no task is using."""
        for kind in list(self._kept):
            if kind.poll is not None:
                for resource in self.items(kind).values():
                    kind.poll(resource)

    def begin_task(self) -> None:
        """Serve callbacks as `poll` does, and drop resources that no task has used for the longest time of their kind.

        Later in a task, one that takes long would lose what it uses.
        """
        self.poll()
        for kind in list(self._kept):
            if kind.max_idle_s is not None:
                self._drop_idle(kind, kind.max_idle_s)

    def close(self) -> None:
        """Close all resources; those that fail to close are logged."""
        for kind in list(self._kept):
            resources = self.items(kind)
            self.drop(kind)
            for resource in resources.values() if kind.close is not None else ():
                try:
                    kind.close(resource)  # type: ignore[misc]  # checked above
                except Exception as error:
                    logger.debug("closing a %s failed: %s", kind.name, error)

    def abandon(self) -> None:
        """Forget the resources of the process that this one was forked from.

        They are kept alive: the threads of a Kafka client do not exist in the fork, so destroying it would hang.
        """
        self._lock = threading.RLock()
        self._inherited.append(self._kept)
        self._kept = {}

    def _use(self, kind: ResourceKind[T], key: Hashable) -> T | None:
        resources = self._of_kind(kind)
        entry = resources.get(key)
        if entry is None:
            return None
        entry.used_at = self._now()
        resources.move_to_end(key)
        resource: T = entry.resource
        return resource

    def _drop_idle(self, kind: ResourceKind[T], max_idle_s: float) -> None:
        with self._lock:
            used_before = self._now() - max_idle_s
            idle = [item for item in self._of_kind(kind).items() if item[1].used_at < used_before]
            for key, entry in idle:
                if kind.is_busy is None or not kind.is_busy(entry.resource):
                    del self._of_kind(kind)[key]

    def _of_kind(self, kind: ResourceKind[Any]) -> OrderedDict[Hashable, _Kept]:
        return self._kept.setdefault(kind, OrderedDict())


RESOURCES = WorkerResources()
"""The resources of this process, closed when it exits."""

atexit.register(RESOURCES.close)
os.register_at_fork(after_in_child=RESOURCES.abandon)
