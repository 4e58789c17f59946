"""Keep Python's garbage collector away from objects that it cannot free."""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Pause garbage collection inside the block: it would visit every new message again and again, and free none."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def resuming_garbage_collection(items: Generator[T]) -> Generator[T]:
    """Yield what a generator does that pauses garbage collection, and resume it while the caller has an item.

    The caller is a program of the user's, which may have garbage of its own between two items.
    """
    was_enabled = gc.isenabled()
    with closing(items):
        for item in items:
            if was_enabled:
                gc.enable()
            yield item
            if was_enabled:
                gc.disable()


class LoadedObjects:
    """The objects that a process has loaded, which live as long as it does."""

    def __init__(self) -> None:
        self._frozen_modules = 0

    def freeze(self) -> None:
        """Exclude all objects that exist now from garbage collection, unless that was done since the last import.

        Spark's worker daemon collects garbage after every task of a reused worker. With pyarrow and this package loaded
        that visits some hundred thousand objects: 30 ms of CPU for each task, which is more than a small micro-batch
        needs for all else. A worker's first task may load a part of them only, as when it reads and a later one writes.
        Reference cycles among these objects are never freed.
        """
        if self._frozen_modules != len(sys.modules):
            self._frozen_modules = len(sys.modules)
            gc.collect()
            gc.freeze()


LOADED_OBJECTS = LoadedObjects()
"""The objects of this process."""
