"""Finds the files that options name."""

from __future__ import annotations

import socket
from pathlib import Path


def find_file(name: str) -> Path:
    """The file or folder that an option names: as it is, else among the files that Spark has distributed.

    Args:
        name: Absolute, relative to the working folder, or as it was given to ``spark.files`` or ``addFile``.

    Raises:
        ValueError: It is in neither place; the message says where it was looked for.
    """
    given = Path(name)
    if given.exists():
        return given
    distributed = _distributed(given)
    if distributed and distributed.exists():
        return distributed
    second = distributed or "Spark's distributed files (there is no Spark in this process)"
    raise ValueError(
        f"there is no file {name!r} on host {socket.gethostname()}; looked at {given.absolute()} and {second}"
    )


def _distributed(given: Path) -> Path | None:
    from pyspark import SparkFiles

    try:
        root = SparkFiles.getRootDirectory()
    except AssertionError:
        # Neither a worker of Spark's nor a driver with a context
        return None
    # Spark puts all files into one folder, whatever folders they came from
    return Path(root) / given.name if root else None
