"""Storage of a table's state in the checkpoint of its query: one immutable file per version."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from millrace.errors import SchemaError
from millrace_catalog.jvm import HadoopFolder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FOLDER = "millrace-schema"


class SchemaStore:
    """Store the state of a table.

    Args:
        spark: Session whose file systems are used.
        checkpoint: Location of the checkpoint.
    """

    def __init__(self, spark: SparkSession, checkpoint: str) -> None:
        self._folder = HadoopFolder(spark, f"{checkpoint.rstrip('/')}/{_FOLDER}")

    def load(self) -> str | None:
        """Read the newest state; None when there is none."""
        versions = self._versions()
        return self._folder.read(str(versions[-1])) if versions else None

    def save(self, version: int, state: str) -> None:
        """Write a newer state: either whole or not at all, even if the process is killed.

        Raises:
            SchemaError: Another query has written the same version.
        """
        name = str(version)
        self._folder.make("")
        if self._folder.exists(name):
            raise SchemaError(
                f"{self._folder.path(name)} exists already: another query uses this checkpoint location; each query "
                f"needs its own"
            )
        draft = f".{name}.{uuid.uuid4().hex}"
        self._folder.write(draft, state)
        self._folder.move(draft, name)
        for old in self._versions()[:-2]:
            self._folder.delete(str(old))

    def _versions(self) -> list[int]:
        return sorted(int(name) for name in self._folder.names() if name.isdigit())
