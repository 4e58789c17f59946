"""The user's folders for downloads and for the background broker's record, and locks between processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs
from filelock import FileLock

_APP_NAME = "millrace"


def cache_folder() -> Path:
    """Return the folder for downloads: ``MILLRACE_CACHE``, else the user's cache folder (``~/.cache/millrace``)."""
    return _override("MILLRACE_CACHE") or platformdirs.user_cache_path(_APP_NAME, appauthor=False)


def state_folder() -> Path:
    """Return the folder for the background broker's record.

    It is ``MILLRACE_STATE``, else the user's folder for state (``~/.local/state/millrace``).
    """
    return _override("MILLRACE_STATE") or platformdirs.user_state_path(_APP_NAME, appauthor=False)


@contextmanager
def exclusive_lock(path: Path) -> Iterator[None]:
    """Hold a lock file exclusively across processes; waits until it is free.

    Args:
        path: The lock file. It and its folder are created where missing, and the file is left in place.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path):
        yield


def _override(variable: str) -> Path | None:
    folder = os.environ.get(variable)
    return Path(folder).expanduser().absolute() if folder else None
