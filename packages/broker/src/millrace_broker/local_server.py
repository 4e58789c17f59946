"""The ``with`` block of servers on this machine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class LocalServer(ABC):
    """A server on 127.0.0.1, which this process starts and which ends with it at the latest."""

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @abstractmethod
    def start(self) -> None:
        """Start what does not run, and wait until it serves clients."""

    @abstractmethod
    def stop(self) -> None:
        """Stop all that runs."""
