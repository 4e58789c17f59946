"""The names of queries and the folders of their checkpoints.

A statement that runs again, in this session or another, must find the checkpoint that it has left, and no other
statement may.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from millrace_sql.configuration.session import SessionConfiguration
from millrace_sql.errors import SqlError
from millrace_sql.script_texts import Identifier
from millrace_sql.statements import Insert

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SPARK_DIR = "spark.sql.streaming.checkpointLocation"
_ID_LENGTH = 10
_LAYOUT = re.compile(
    r"""(?P<kept>'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`[^`]*`)|(?:\s+|--[^\n]*|/\*.*?\*/)+""", re.DOTALL
)
"""Blanks, comments and hints; and texts and quoted names, which may hold their signs but are none."""


@dataclass(frozen=True)
class QueryPlace:
    """The name and the checkpoint of a query.

    Attributes:
        name: Its name.
        checkpoint: The folder of its checkpoint.
        is_temporary: Whether the folder is removed when the query has ended.
    """

    name: str
    checkpoint: str
    is_temporary: bool

    def state_location(self, number: int, table: Identifier) -> str:
        """Return the folder for the state of a source.

        Args:
            number: The place of the source in its query.
            table: Its table.
        """
        return f"{self.checkpoint}/millrace-sources/{number}-{quote(table.parts[-1], safe='')}"

    @property
    def plan_state_location(self) -> str:
        """The folder for what the query's plan keeps between micro-batches."""
        return f"{self.checkpoint}/millrace-plan"

    def was_started(self, spark: SparkSession) -> bool:
        """Return whether the checkpoint has a micro-batch of an earlier run."""
        from pyspark.errors import AnalysisException

        try:
            return not spark.read.text(f"{self.checkpoint}/commits").isEmpty()
        except AnalysisException:  # there is no such folder yet
            return False

    def remove(self) -> None:
        """Remove the folder of a query that has no checkpoint to keep."""
        if self.is_temporary:
            shutil.rmtree(self.checkpoint, ignore_errors=True)


class QueryPlaces:
    """Choose names and checkpoints.

    Args:
        spark: The session.
        configuration: The settings.
    """

    def __init__(self, spark: SparkSession, configuration: SessionConfiguration) -> None:
        self._spark = spark
        self._configuration = configuration
        self._statements: dict[str, str] = {}

    @property
    def keeps_checkpoints(self) -> bool:
        """True when queries have checkpoints that are kept."""
        return bool(self._folder)

    @property
    def _folder(self) -> str | None:
        return self._configuration.options.checkpoint_dir or self._spark.conf.get(_SPARK_DIR, None)

    def of_insert(self, insert: Insert, table: Identifier, *, is_one_of_many: bool) -> QueryPlace:
        """Return the place of an INSERT's query.

        Args:
            insert: The statement.
            table: The whole name of its table.
            is_one_of_many: Whether it belongs to a statement set, whose queries share one ``pipeline.name``.

        Raises:
            SqlError: Another statement of the session has the same ``pipeline.name``.
        """
        id_ = statement_id(insert, table)
        pipeline = self._configuration.options.pipeline_name
        if pipeline is None:
            name = f"insert-into_{'.'.join(table.parts)}-{id_}"
        else:
            name = f"{pipeline}-{table.parts[-1]}" if is_one_of_many else pipeline
        folder = self._folder
        if not folder:
            return QueryPlace(self._unused(name), tempfile.mkdtemp(prefix="millrace-sql-"), is_temporary=True)
        checkpoint = f"{folder.rstrip('/')}/{quote(name, safe='-_.')}"
        before = self._statements.setdefault(checkpoint, id_)
        if before != id_:
            raise SqlError(
                f"another INSERT of this session has the checkpoint {checkpoint}: SET another 'pipeline.name' before "
                f"each of them, or RESET it",
                insert.position,
            )
        return QueryPlace(name, checkpoint, is_temporary=False)

    def of_select(self) -> QueryPlace:
        """Return the place of a SELECT, whose checkpoint nobody goes on from."""
        return QueryPlace(self._unused("select"), tempfile.mkdtemp(prefix="millrace-sql-"), is_temporary=True)

    def _unused(self, name: str) -> str:
        used = {query.name for query in self._spark.streams.active}
        candidates = (name, *(f"{name}-{number}" for number in range(2, len(used) + 3)))
        return next(candidate for candidate in candidates if candidate not in used)


def statement_id(insert: Insert, table: Identifier) -> str:
    """Return an id that an INSERT has in every session, however it is laid out."""
    parts = [*table.parts, *insert.columns, repr(sorted(insert.partition.items())), _normalised(insert.query.text)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:_ID_LENGTH]


def _normalised(query: str) -> str:
    # By own rules, so that no library's next version makes another id of the same statement
    return _LAYOUT.sub(lambda match: match["kept"] or " ", query).strip()
