"""Read and write small files in the folder of a query's checkpoint, wherever Spark keeps it; on the driver."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

import pyarrow as pa

from millrace.kafka.retry import call_with_timeout
from millrace.worker import RESOURCES, ResourceKind

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

REMOTE_TIMEOUT_S = 10.0
"""Time for a remote file system to answer. A query must not wait for what it can do without."""

UNREACHABLE = ResourceKind[bool]("unreachable checkpoint", capacity=64)
"""Checkpoints that this process has not reached, and does not try again."""

# The names of file systems in Hadoop and in Arrow
_ARROW_SCHEMES = {"s3": "s3", "s3a": "s3", "s3n": "s3", "gs": "gs", "abfs": "abfs", "abfss": "abfss"}
_HDFS = ("hdfs", "viewfs")

T = TypeVar("T")


class CheckpointFolder:
    """The folder of a checkpoint, on a local disk or in an object store that Arrow has a client for.

    Args:
        location: A path or a URI, as Spark takes it.
    """

    def __init__(self, location: str) -> None:
        self._location = location

    def names(self, folder: str) -> list[str]:
        """List the names of the files in a folder of it.

        Raises:
            OSError: There is no such folder, or it cannot be read.
        """

        def names(files: FileSystem, root: str) -> list[str]:
            from pyarrow.fs import FileSelector

            return [info.base_name for info in files.get_file_info(FileSelector(f"{root}/{folder}"))]

        return self._call(names)

    def read(self, name: str) -> str:
        """Read a file.

        Raises:
            OSError: It does not exist, or cannot be read.
        """

        def read(files: FileSystem, root: str) -> str:
            with files.open_input_stream(f"{root}/{name}") as stream:
                return bytes(stream.read()).decode(errors="replace")

        return self._call(read)

    def write(self, name: str, text: str) -> None:
        """Create or replace a file.

        Raises:
            OSError: It cannot be written.
        """

        def write(files: FileSystem, root: str) -> None:
            with files.open_output_stream(f"{root}/{name}") as stream:
                stream.write(text.encode())

        self._call(write)

    def _call(self, call: Callable[[FileSystem, str], T]) -> T:
        scheme = urlsplit(self._location).scheme
        # For HDFS, Arrow would start a Java machine in this process
        if scheme not in _ARROW_SCHEMES:
            if scheme in _HDFS:
                raise OSError(f"{scheme}:// is not read from here")
            return _call(lambda: call(*open_location(self._location)))
        if self._location in RESOURCES.items(UNREACHABLE):
            raise OSError(f"{self._location} could not be reached before")
        try:
            return call_with_timeout(lambda: _call(lambda: call(*open_location(self._location))), REMOTE_TIMEOUT_S)
        except FileNotFoundError:
            raise
        except OSError:
            RESOURCES.put(UNREACHABLE, self._location, True)
            raise


def open_location(location: str) -> tuple[FileSystem, str]:
    """Open the file system of a folder.

    Args:
        location: A path or a URI, as Spark takes it.

    Returns:
        The file system, and the path in it.

    Raises:
        OSError: Arrow has no client for it, or the client cannot be used.
    """
    # Loaded here, since most processes need no file system
    from pyarrow.fs import FileSystem, LocalFileSystem

    scheme = urlsplit(location).scheme
    if scheme in ("", "file"):
        return LocalFileSystem(), _local_path(location)
    if scheme not in (*_ARROW_SCHEMES, *_HDFS):
        raise OSError(f"{scheme}:// cannot be read from Python")
    uri = f"{_ARROW_SCHEMES.get(scheme, scheme)}{location.removeprefix(scheme)}".rstrip("/")
    if scheme == "gs":
        # By default its client tries for 15 minutes
        uri += f"?retry_limit_seconds={REMOTE_TIMEOUT_S}"
    return _call(lambda: FileSystem.from_uri(uri))


def _call(call: Callable[[], T]) -> T:
    try:
        return call()
    except (pa.ArrowException, NotImplementedError, ValueError) as error:
        raise OSError(str(error)) from error


def _local_path(location: str) -> str:
    # Hadoop takes what follows the scheme as it stands, also a blank or a percent sign
    path = location.removeprefix("file:")
    return str(PurePosixPath(path.removeprefix("//") if path.startswith("///") else path))
