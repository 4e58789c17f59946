"""State backends: keep a value for each key of a partition, on the local disk of an executor.

Flink calls these state backends. Core decides what is kept, and has its durable copy elsewhere: a store may lose
everything, but never a part of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager

from millrace.contracts.plugin import Plugin

MAX_KEY_BYTES = 256
"""Bytes: no key that a store is given is longer, and none is empty."""


class StateView(ABC):
    """The content of a store at one moment; what others write meanwhile does not change it."""

    @property
    @abstractmethod
    def marker(self) -> bytes | None:
        """The marker of the last commit; None for a store that has none."""

    @abstractmethod
    def get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the value of each key, None for one without.

        Args:
            keys: The keys, in any order.
        """

    @abstractmethod
    def items(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield all keys with their values, by ascending key."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of keys."""

    @property
    @abstractmethod
    def size_bytes(self) -> int:
        """About the bytes that the store takes on the disk; asked for in every task, so that it must be quick."""


class StateWriter(ABC):
    """Changes of a store, of which views see all after `commit`, and nothing without it."""

    @property
    @abstractmethod
    def marker(self) -> bytes | None:
        """The marker of the last commit, by whichever process; None for a store that has none."""

    @abstractmethod
    def put(self, changes: Sequence[tuple[bytes, bytes | None]]) -> None:
        """Set the values of keys; None removes a key, whether the store has it or not.

        Args:
            changes: Different keys, in ascending order.

        Raises:
            MachineError: The disk has no room for them.
        """

    @abstractmethod
    def clear(self) -> None:
        """Remove all keys."""

    @abstractmethod
    def commit(self, marker: bytes) -> None:
        """Make the changes visible, with a marker for this state; the writer is not used after it."""


class KeyedStore(ABC):
    """The values of one partition. Any number of processes of a machine may have it open, in one thread each."""

    @abstractmethod
    def view(self) -> AbstractContextManager[StateView]:
        """Return a context with a view, which is used in it alone."""

    @abstractmethod
    def writer(self) -> AbstractContextManager[StateWriter]:
        """Return a context with a writer, which is used in it alone. One at a time has it; others wait for it."""


class StateBackend(Plugin, ABC):
    """Open stores on the local disk, named in ``state.backend``.

    Its options are given as ``state.backend.<option>``. Built on the driver, to check the options, and in each task.
    """

    @abstractmethod
    def open(self, name: str) -> KeyedStore:
        """Open the store of a name, and create it if there is none; in tasks, on executors.

        All processes of a machine that open a name with the same options share its store. After a failure of any kind
        it holds a state that was committed, with its marker, or nothing.

        Args:
            name: Consists of letters, digits, ``.``, ``_`` and ``-``, at most 200 of them.

        Raises:
            MachineError: This machine cannot keep it.
        """

    @abstractmethod
    def remove(self, name: str) -> None:
        """Remove the store of a name, if there is one; processes that have it open may go on with what it was."""
