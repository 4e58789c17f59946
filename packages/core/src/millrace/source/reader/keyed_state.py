"""The last message of each key, as one task sees it: a store's state, and the changes of the task above it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from millrace.contracts import KeyedStore, StateBackend, StateView

MAX_OVERLAY_BYTES = 128 << 20
"""About the most bytes of keys and values that are kept in memory; beyond, they go to a store of the task."""

_ENTRY_BYTES = 150
"""Bytes that a key takes beside its own and those of its value."""

_REMOVED: Final = b"\0"
_UNKNOWN: Final[Any] = object()


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

    def get(self, keys: Sequence[bytes], beneath: StateView) -> list[bytes | None]:
        """Return the value of each key, None for one without.

        Args:
            keys: The keys.
            beneath: Has the values of keys that were neither set nor removed here.
        """
        memory = self._memory
        # In most micro-batches most keys come once
        if memory.keys().isdisjoint(keys):
            return self._get_spilled(keys, beneath)
        values = [memory.get(key, _UNKNOWN) for key in keys]
        if _UNKNOWN in values:
            unknown = [at for at, value in enumerate(values) if value is _UNKNOWN]
            for at, value in zip(unknown, self._get_spilled([keys[at] for at in unknown], beneath), strict=True):
                values[at] = value
        return values

    def _get_spilled(self, keys: Sequence[bytes], beneath: StateView) -> list[bytes | None]:
        if self._spilled is None:
            return beneath.get(keys)
        with self._spilled.view() as view:
            spilled = view.get(keys)
        values = [None if value is None or value == _REMOVED else value[1:] for value in spilled]
        others = [at for at, value in enumerate(spilled) if value is None]
        for at, value in zip(others, beneath.get([keys[at] for at in others]), strict=True):
            values[at] = value
        return values

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
            memory = self._memory
            writer.put([(key, _REMOVED if (value := memory[key]) is None else b"\1" + value) for key in sorted(memory)])
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

    def get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the value of each key, None for one without."""
        return self._overlay.get(keys, self._view)

    def set(self, changes: Mapping[bytes, bytes | None]) -> None:
        """Set the values of keys; None removes one."""
        self._overlay.set(changes)


@contextmanager
def state_above(view: StateView, backend: StateBackend) -> Iterator[KeyedState]:
    """Yield the state of a view, to be changed by a task, which leaves the store as it is."""
    overlay = Overlay(backend)
    try:
        yield KeyedState(view, overlay)
    finally:
        overlay.close()
