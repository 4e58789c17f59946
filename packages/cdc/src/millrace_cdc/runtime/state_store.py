"""Storage of a pipeline's schemas in its checkpoint: one immutable file per micro-batch that changes them."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from millrace.errors import StateError
from millrace_catalog.jvm import HadoopFolder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FOLDER = "millrace-pipeline"
_INITIAL = -1
_KEPT = 10
"""Spark repeats the last micro-batch only; the rest are for people who look after a pipeline."""


class StateStore:
    """Store the schemas of a pipeline.

    A file is named after its micro-batch, plus one: 0 is the state before the first. One that the sink makes necessary,
    after that of the micro-batch was written, has a number behind a dot: ``7.1`` instead of ``7``.

    Args:
        spark: Session whose file systems are used.
        checkpoint: Location of the checkpoint.
    """

    def __init__(self, spark: SparkSession, checkpoint: str) -> None:
        self._folder = HadoopFolder(spark, f"{checkpoint.rstrip('/')}/{_FOLDER}")

    def load(self, batch: int) -> str | None:
        """Read the state of a micro-batch, if it has one of its own."""
        if not self.has(batch):
            return None
        (*_, newest) = (version for version in self._versions() if version[0] == batch + 1)
        return self._folder.read(_name(newest))

    def has(self, batch: int) -> bool:
        """Return whether a micro-batch has a state of its own."""
        return self._folder.exists(str(batch + 1))

    def load_initial(self) -> str | None:
        """Read the state before the first micro-batch; also a pipeline without tables has one."""
        return self.load(_INITIAL)

    def load_before(self, batch: int) -> str | None:
        """Read the newest state of an earlier micro-batch; None where none has one of its own."""
        earlier = [version for version in self._versions() if 0 < version[0] <= batch]
        return self._folder.read(_name(earlier[-1])) if earlier else None

    def save_initial(self, state: str) -> None:
        """Write the state before the first micro-batch."""
        self.save(_INITIAL, state)

    def save(self, batch: int, state: str) -> None:
        """Write the state of a micro-batch: either whole or not at all, even if the process is killed.

        Raises:
            StateError: Another pipeline has written it.
        """
        self._save(str(batch + 1), state)

    def amend(self, batch: int, state: str) -> None:
        """Write the state of a micro-batch that may have one already: from now on, this one counts.

        Raises:
            StateError: Another pipeline has written it.
        """
        others = [version for version in self._versions() if version[0] == batch + 1]
        self._save(_name((batch + 1, others[-1][1] + 1)) if others else str(batch + 1), state)

    def _save(self, name: str, state: str) -> None:
        self._folder.make("")
        if self._folder.exists(name):
            raise StateError(
                f"{self._folder.path(name)} exists already: another pipeline uses this checkpoint location; each "
                f"pipeline needs its own"
            )
        draft = f".{name}.{uuid.uuid4().hex}"
        self._folder.write(draft, state)
        self._folder.move(draft, name)
        # The first is kept: it says that the pipeline has a state
        for old in self._versions()[1:-_KEPT]:
            self._folder.delete(_name(old))

    def _versions(self) -> list[tuple[int, int]]:
        parts = (name.partition(".")[::2] for name in self._folder.names())
        return sorted((int(major), int(minor or 0)) for major, minor in parts if (major + minor).isdigit())


def _name(version: tuple[int, int]) -> str:
    major, minor = version
    return f"{major}.{minor}" if minor else str(major)
