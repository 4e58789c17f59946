"""Finds the files that options name, on whichever machine a client is made."""

from __future__ import annotations

import socket
from pathlib import Path

from millrace.errors import OptionsError


def find_file(option: str, name: str) -> Path:
    """The file or folder that an option names: as it is, else among the files that Spark has distributed.

    Args:
        option: The option's name, for the error.
        name: Absolute, relative to the working folder, or as it was given to ``spark.files`` or ``addFile``.

    Raises:
        OptionsError: It is in neither place.
    """
    given = Path(name)
    if given.exists():
        return given
    distributed = _distributed(given)
    if distributed and distributed.exists():
        return distributed
    second = distributed or "Spark's distributed files (there is no Spark in this process)"
    raise OptionsError(
        "millrace",
        (
            f"option '{option}': there is no file {name!r} on host {socket.gethostname()}; looked at "
            f"{given.absolute()} and {second}. Put it there on the driver and all executors, or let Spark distribute "
            f"it, by its setting 'spark.files' or by spark.addArtifact(path, file=True) or SparkContext.addFile(path), "
            f"and give the option the file's name alone",
        ),
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
