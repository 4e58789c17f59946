"""The last message of each key, as one task sees it: a store's state, and the changes of the task above it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from millrace.contracts import KeyedStore, StateBackend, StateView

MAX_OVERLAY_BYTES = 64 << 20
"""About the most bytes of keys and values that are kept in memory; beyond, they go to a store of the task."""

_ENTRY_BYTES = 150
"""Bytes that a key takes beside its own and those of its value."""

_REMOVED: Final = b"\0"
_ABSENT: Final = object()


class Overlay:
    """Changes of keys, of which the latest are in memory and the others in a store of their own.

    Args:
        backend: Opens that store, if it is needed.
        max_bytes: About how many bytes stay in memory.
    """

    def __init__(self, backend: StateBackend, max_bytes: int = MAX_OVERLAY_BYTES) -> None:
        self._backend, self._max_bytes = backend, max_bytes
        self._memory: dict[bytes, bytes | None] = {}
        self._bytes = 0
        self._name = f"task-{uuid.uuid4().hex}"
        self._spilled: KeyedStore | None = None

    def get(self, keys: Sequence[bytes]) -> tuple[dict[bytes, bytes], list[bytes]]:
        """Return the values of keys that were set, and the keys that were neither set nor removed.

        Args:
            keys: Different keys, in ascending order.
        """
        if not self._memory and self._spilled is None:
            return {}, list(keys)
        values, others, memory = {}, [], self._memory
        for key in keys:
            value = memory.get(key, _ABSENT)
            if value is _ABSENT:
                others.append(key)
            elif value is not None:
                values[key] = value
        if self._spilled is not None and others:
            with self._spilled.view() as view:
                spilled = view.get(others)
            values |= {key: value[1:] for key, value in spilled.items() if value != _REMOVED}
            others = [key for key in others if key not in spilled]
        return values, others  # type: ignore[return-value]  # the absent ones are left out

    def set(self, changes: Mapping[bytes, bytes | None]) -> None:
        """Set the values of keys; None removes one."""
        self._memory.update(changes)
        self._bytes += sum(map(len, filter(None, changes.values()))) + _ENTRY_BYTES * len(changes)
        if self._bytes > self._max_bytes:
            self._spill()

    def values(self) -> Iterator[bytes]:
        """Yield the values of all keys that were set and not removed, in any order."""
        if self._spilled is None:
            yield from (value for value in self._memory.values() if value is not None)
            return
        self._spill()
        with self._spilled.view() as view:
            yield from (value[1:] for _, value in view.items() if value != _REMOVED)

    def close(self) -> None:
        """Remove the store."""
        self._memory.clear()
        if self._spilled is not None:
            self._spilled = None
            self._backend.remove(self._name)

    def _spill(self) -> None:
        if self._spilled is None:
            self._spilled = self._backend.open(self._name)
        with self._spilled.writer() as writer:
            writer.put(
                [(key, _REMOVED if value is None else b"\1" + value) for key, value in sorted(self._memory.items())]
            )
            writer.commit(b"")
        self._memory.clear()
        self._bytes = 0


class KeyedState:
    """The last message of each key: a state, and the changes since then.

    Args:
        view: The state.
        overlay: Takes the changes.
    """

    def __init__(self, view: StateView, overlay: Overlay) -> None:
        self._view, self._overlay = view, overlay

    def get(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the values of those keys that have one.

        Args:
            keys: Different keys, in ascending order.
        """
        values, others = self._overlay.get(keys)
        return values | self._view.get(others) if others else values

    def set(self, changes: Mapping[bytes, bytes | None]) -> None:
        """Set the values of keys; None removes one."""
        self._overlay.set(changes)


@contextmanager
def state_above(store: KeyedStore, backend: StateBackend) -> Iterator[KeyedState]:
    """Yield the state of a store as it is now, to be changed by a task, which leaves the store as it is."""
    overlay = Overlay(backend)
    try:
        with store.view() as view:
            yield KeyedState(view, overlay)
    finally:
        overlay.close()
