"""Schemas of queries whose columns follow their messages, for pages that show them.

A query registers itself when it starts, and a page asks. Nothing is described where nobody asks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

MAX_QUERIES = 20
"""The number of queries that are remembered; the oldest are forgotten first."""


@dataclass(frozen=True)
class SchemaVersion:
    """A change of the columns that a query reads.

    Attributes:
        version: Its number; 1 is the creation.
        kind: Whether columns were created with the table, added later, or got wider types.
        columns: The columns as SQL, such as ``note STRING``, or ``n BIGINT → DOUBLE``.
        cause: The message that required the change, such as ``partition 0, offset 42``; None where no single one did.
    """

    version: int
    kind: Literal["created", "added", "widened"]
    columns: tuple[str, ...]
    cause: str | None = None


@dataclass(frozen=True)
class QuerySchema:
    """The schema of a query whose columns follow its messages.

    Attributes:
        table: The name of the table that it reads.
        versions: All changes of its columns, from the creation.
        restarts: How often this process has restarted the query with other columns.
        is_static: Whether the table is set to keep its first columns.
    """

    table: str
    versions: tuple[SchemaVersion, ...]
    restarts: int = 0
    is_static: bool = False


class QuerySchemas:
    """The schemas of a process's queries, by the id of the query, which outlives restarts."""

    def __init__(self) -> None:
        self._by_query: dict[str, Callable[[], QuerySchema]] = {}
        self._lock = threading.Lock()

    def add(self, query_id: str, describe: Callable[[], QuerySchema]) -> None:
        """Remember a query that has started.

        Args:
            query_id: The id of the query.
            describe: Returns its schema now, without asking Spark.
        """
        with self._lock:
            self._by_query.pop(query_id, None)
            self._by_query[query_id] = describe
            while len(self._by_query) > MAX_QUERIES:
                del self._by_query[next(iter(self._by_query))]

    def schema(self, query_id: str) -> QuerySchema | None:
        """Return the schema of a query; None where its columns do not follow messages."""
        describe = self._by_query.get(query_id)
        return None if describe is None else describe()


QUERY_SCHEMAS = QuerySchemas()
"""The schemas of this process's queries."""
