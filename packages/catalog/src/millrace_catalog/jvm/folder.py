"""Files of a folder in any of Hadoop's file systems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from millrace.errors import MachineError
from millrace_catalog.jvm.session import hadoop_configuration, jvm_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Folder:
    """A folder and what is in it, by paths within it.

    Args:
        spark: The session whose JVM is asked.
        path: The folder; it need not exist.
    """

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._jvm = jvm_of(spark, f"folder {path}")
        self._root = path.rstrip("/") or "/"
        self._files = self._path("").getFileSystem(hadoop_configuration(spark))

    def path(self, name: str) -> str:
        """Where a file is, for Spark's readers and writers."""
        return f"{self._root}/{name}" if name else self._root

    def exists(self, name: str = "") -> bool:
        """Whether there is such a file or folder."""
        return bool(self._files.exists(self._path(name)))

    def names(self, name: str = "") -> list[str]:
        """What is in a folder and not hidden, sorted; nothing when it does not exist."""
        if not self.exists(name):
            return []
        found = (status.getPath().getName() for status in self._files.listStatus(self._path(name)))
        return sorted(each for each in found if not each.startswith(("_", ".")))

    def is_file(self, name: str) -> bool:
        """Whether it is a file, no folder."""
        return bool(self._files.getFileStatus(self._path(name)).isFile())

    def make(self, name: str) -> None:
        """Make a folder, unless it is there."""
        self._files.mkdirs(self._path(name))

    def move(self, name: str, to: str) -> None:
        """Rename a file, at once where the file system does.

        Raises:
            MachineError: The file system refused.
        """
        if not self._files.rename(self._path(name), self._path(to)):
            raise MachineError(f"{self.path(name)} could not be renamed to {self.path(to)}: the file system refused")

    def delete(self, name: str) -> None:
        """Delete a file, or a folder with all that is in it; nothing when it does not exist."""
        self._files.delete(self._path(name), True)

    def read(self, name: str) -> str:
        """The text of a file."""
        stream = self._files.open(self._path(name))
        try:
            return bytes(stream.readAllBytes()).decode()
        finally:
            stream.close()

    def write(self, name: str, text: str) -> None:
        """Make a file of a text, or write it anew."""
        stream = self._files.create(self._path(name), True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(self.path(name))
