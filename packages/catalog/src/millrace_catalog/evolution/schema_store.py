"""A table's state beside the checkpoint of its query: one file for each version, none of which is ever changed."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from millrace.errors import SchemaError
from millrace_catalog.jvm.folder import Folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = "millrace-schema"


class KeptState:
    """Keeps a table's state.

    Args:
        spark: The session whose file systems are used.
        checkpoint: The checkpoint's location.
    """

    def __init__(self, spark: SparkSession, checkpoint: str) -> None:
        self._folder = Folder(spark, f"{checkpoint.rstrip('/')}/{FOLDER}")

    def load(self) -> str | None:
        """The newest state; None when there is none."""
        versions = self._versions()
        return self._folder.read(str(versions[-1])) if versions else None

    def save(self, version: int, state: str) -> None:
        """Keep a newer state; it is there as a whole or not at all, whatever happens.

        Raises:
            SchemaError: Another query has kept one of the same version.
        """
        name = str(version)
        self._folder.make("")
        if self._folder.exists(name):
            raise SchemaError(
                f"{self._folder.path(name)} is there already: another query uses this checkpoint location; each needs "
                f"one of its own"
            )
        draft = f".{name}.{uuid.uuid4().hex}"
        self._folder.write(draft, state)
        self._folder.move(draft, name)
        for old in self._versions()[:-2]:
            self._folder.delete(str(old))

    def _versions(self) -> list[int]:
        return sorted(int(name) for name in self._folder.names() if name.isdigit())
