"""The user's folders that the embedded broker keeps things in, and locks on them between processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_folder() -> Path:
    """Where downloads are kept: ``MILLRACE_CACHE``, else ``XDG_CACHE_HOME/millrace``, else ``~/.cache/millrace``."""
    return _folder("MILLRACE_CACHE", "XDG_CACHE_HOME", ".cache")


def state_folder() -> Path:
    """Where the background broker is noted: ``MILLRACE_STATE``, else ``XDG_STATE_HOME/millrace``, else below home."""
    return _folder("MILLRACE_STATE", "XDG_STATE_HOME", ".local/state")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file that no other process can hold at the same time, waiting for it first.

    Args:
        path: The lock file; it and its folder are created where missing, and the file is left in place.
    """
    import fcntl

    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _folder(own: str, shared: str, below_home: str) -> Path:
    if os.environ.get(own):
        return Path(os.environ[own]).expanduser().absolute()
    if os.environ.get(shared):
        return Path(os.environ[shared]).expanduser().absolute() / "millrace"
    return Path.home() / below_home / "millrace"
