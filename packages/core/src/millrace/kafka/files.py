"""Finds the files that a client's properties name, on whichever machine a client is made."""

from __future__ import annotations

from pathlib import Path

from millrace.errors import OptionsError
from millrace.options import files


def find_file(option: str, name: str) -> Path:
    """The file or folder that an option names, as `millrace.options.files.find_file` finds it.

    Args:
        option: The option's name, for the error.
        name: The file's name.

    Raises:
        OptionsError: There is none.
    """
    try:
        return files.find_file(name)
    except ValueError as error:
        raise OptionsError(
            "millrace",
            (
                f"option '{option}': {error}. Put it there on the driver and all executors, or let Spark distribute "
                f"it, by its setting 'spark.files' or by spark.addArtifact(path, file=True) or "
                f"SparkContext.addFile(path), and give the option the file's name alone",
            ),
        ) from None
