"""State backends: keep a value for each key of a partition, on the local disk of an executor.

The name is Flink's. Core decides what to store, and has a durable copy elsewhere: a store may lose all of its content,
but never a part of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager

from millrace.contracts.plugin import Plugin

MAX_KEY_BYTES = 256
"""The maximum length of a key, in bytes. Keys are never empty."""


class StateView(ABC):
    """A snapshot of a store, which later writes do not change."""

    @property
    @abstractmethod
    def marker(self) -> bytes | None:
        """The marker of the last commit. None for a store without commits."""

    @abstractmethod
    def get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """Return the value of each key, None for one without.

        Args:
            keys: The keys, in any order.
        """

    @abstractmethod
    def items(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield all keys and values, in ascending order of the keys."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of keys."""

    @property
    @abstractmethod
    def size_bytes(self) -> int:
        """The approximate size of the store on disk, in bytes. Every task asks for it, so it must be fast."""


class StateWriter(ABC):
    """A transaction on a store: views see its changes only after `commit`, and then all of them."""

    @property
    @abstractmethod
    def marker(self) -> bytes | None:
        """The marker of the last commit of any process. None for a store without commits."""

    @abstractmethod
    def put(self, changes: Sequence[tuple[bytes, bytes | None]]) -> None:
        """Set the values of keys. None removes a key, which need not exist.

        Args:
            changes: Keys, without repeats and in ascending order, and their values.

        Raises:
            MachineError: The disk is full.
        """

    @abstractmethod
    def clear(self) -> None:
        """Remove all keys."""

    @abstractmethod
    def commit(self, marker: bytes) -> None:
        """Make the changes visible, with a marker for this state. The writer is not used afterwards."""


class KeyedStore(ABC):
    """The values of one partition. Several processes of a machine can use it, each in one thread."""

    @abstractmethod
    def view(self) -> AbstractContextManager[StateView]:
        """Return a context manager with a view, which is used only within its block."""

    @abstractmethod
    def writer(self) -> AbstractContextManager[StateWriter]:
        """Return a context manager with the only writer at a time, which is used only within its block."""


class StateBackend(Plugin, ABC):
    """Opens stores on the local disk. ``state.backend`` names the plugin.

    Its options are ``state.backend.<option>``. Created on the driver, to check the options, and in each task.
    """

    @abstractmethod
    def open(self, name: str) -> KeyedStore:
        """Open a store, and create it if it does not exist. Called in tasks, on executors.

        All processes of a machine that open the same name with the same options share the store. After any failure, it
        contains a committed state with its marker, or nothing.

        Args:
            name: At most 200 letters, digits, ``.``, ``_`` and ``-``.

        Raises:
            MachineError: The store cannot be opened on this machine.
        """

    @abstractmethod
    def remove(self, name: str) -> None:
        """Remove a store, if it exists. Processes that have it open may continue with its old content."""
