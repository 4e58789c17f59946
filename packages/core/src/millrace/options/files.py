"""Find the files that options name."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

FindFile = Callable[[str], Path]
"""Find a file by the name that an option gives; raises a `ValueError` if there is none."""


def spark_files_folder() -> Path | None:
    """Return the folder of the files that Spark has distributed; None if there is no Spark in this process."""
    from pyspark import SparkFiles

    try:
        root = SparkFiles.getRootDirectory()
    except AssertionError:
        # Neither a worker of Spark's nor a driver with a context
        return None
    return Path(root) if root else None


def find_file(name: str, distributed_files: Callable[[], Path | None] = spark_files_folder) -> Path:
    """Return the file or folder that an option names: as it is, else among the files that Spark has distributed.

    Args:
        name: Absolute, relative to the working folder, or as it was given to ``spark.files`` or ``addFile``.
        distributed_files: Returns the folder of Spark's files; None if there is none.

    Raises:
        ValueError: It is in neither place; the message names both.
    """
    path = Path(name)
    if path.exists():
        return path
    folder = distributed_files()
    # Spark puts all files into one folder, whatever folders they came from
    distributed = None if folder is None else folder / path.name
    if distributed and distributed.exists():
        return distributed
    second = distributed or "Spark's distributed files (there is no Spark in this process)"
    raise ValueError(
        f"there is no file {name!r} on host {socket.gethostname()}; looked at {path.absolute()} and {second}"
    )
