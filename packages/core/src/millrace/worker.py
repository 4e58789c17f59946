"""Resources that a worker process keeps from task to task: Kafka clients, sessions, connections to the driver.

Spark runs many short tasks in one Python process, and a Kafka client is expensive to start. Whatever outlives a task is
kept in one registry, `RESOURCES`, so that there is one place that bounds it, serves it and closes it.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

logger = logging.getLogger("millrace")

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ResourceKind(Generic[T]):
    """A kind of resource; each module that keeps resources declares its own.

    Attributes:
        name: For log messages.
        capacity: The number of resources to keep; beyond it, the least recently used one is dropped.
        close: Closes a resource when the registry is closed; None if dropping it suffices. A resource that is dropped
            for another is not closed, since a task may still be using it.
        poll: Serves the callbacks of a resource that no task is using; None if it has none.
    """

    name: str
    capacity: int
    close: Callable[[T], object] | None = None
    poll: Callable[[T], object] | None = None


class WorkerResources:
    """The resources of a process, least recently used first. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._kept: dict[ResourceKind[Any], OrderedDict[Hashable, Any]] = {}
        self._inherited: list[object] = []

    def get(self, kind: ResourceKind[T], key: Hashable, create: Callable[[], T]) -> T:
        """Return the resource for a key, creating it on first use.

        Args:
            kind: The kind of resource.
            key: Identifies it within its kind.
            create: Creates it. If two threads do so at once, both get the one that was kept first.
        """
        with self._lock:
            resources = self._of_kind(kind)
            kept: T | None = resources.get(key)
            if kept is not None:
                resources.move_to_end(key)
                return kept
        created = create()
        with self._lock:
            resource: T = self._of_kind(kind).setdefault(key, created)
            self.put(kind, key, resource)
        return resource

    def put(self, kind: ResourceKind[T], key: Hashable, resource: T) -> None:
        """Keep a resource, as the most recently used of its kind."""
        with self._lock:
            resources = self._of_kind(kind)
            resources[key] = resource
            resources.move_to_end(key)
            while len(resources) > kind.capacity:
                resources.popitem(last=False)

    def take(self, kind: ResourceKind[T], key: Hashable) -> T | None:
        """Remove a resource and return it; None if there is none."""
        with self._lock:
            return self._of_kind(kind).pop(key, None)

    def items(self, kind: ResourceKind[T]) -> dict[Hashable, T]:
        """All resources of a kind by their keys."""
        with self._lock:
            return dict(self._of_kind(kind))

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

    def _of_kind(self, kind: ResourceKind[Any]) -> OrderedDict[Hashable, Any]:
        return self._kept.setdefault(kind, OrderedDict())


RESOURCES = WorkerResources()
"""The resources of this process, closed when it exits."""

atexit.register(RESOURCES.close)
os.register_at_fork(after_in_child=RESOURCES.abandon)
