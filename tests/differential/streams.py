"""Run a query as a stream that ends, also with a failure in between and a restart from its checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from millrace.contracts import ROW_KIND_COLUMN, ScanContext
from millrace_sql import TableEnvironment
from millrace_sql.execution.checkpoints import QueryPlace
from millrace_sql.execution.queries import starting
from millrace_sql.parser import parse
from millrace_sql.planner.model import QueryPlan
from millrace_sql.shell.live_table import LiveTable
from support.waiting import PATIENCE_S

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FAILURE = "the micro-batch that fails once"


class StreamedQuery:
    """A query of an environment in streaming mode.

    Args:
        environment: The environment.
        query: The query.

    Attributes:
        plan: Its plan.
        has_failed: Whether it has failed once, as it was asked to.
    """

    def __init__(self, environment: TableEnvironment, query: str) -> None:
        self._environment, self._query = environment, query
        self._runner = environment._runner
        self.plan = self._planned()
        self.has_failed = False

    def _planned(self) -> QueryPlan:
        with self._environment._running(self._query):
            (statement,) = parse(self._query)
            return self._runner.queries.plan(statement.query)

    def table(self, folder: Path, failing: int | None = None) -> list[tuple[Any, ...]]:
        """Return the rows that its changes leave.

        Args:
            folder: An empty folder for its checkpoint.
            failing: The number of a micro-batch that fails when it has been computed; the query is planned and started
                again then.
        """
        key = self.plan.upsert_key if self.plan.upsert_key or self.plan.has_one_row else None
        changes: list[tuple[str, tuple[Any, ...]]] = []
        names: list[str] = []

        def keep(batch: DataFrame, number: int) -> None:
            rows = self.plan.apply_to_batch(batch, number) if self.plan.runs_per_batch else batch
            collected = rows.collect()
            if number == failing and not self.has_failed:
                self.has_failed = True
                raise RuntimeError(FAILURE)
            names[:] = [name for name in rows.columns if name != ROW_KIND_COLUMN]
            has_kinds = ROW_KIND_COLUMN in rows.columns
            changes.extend((row[-1], tuple(row)[:-1]) if has_kinds else ("+I", tuple(row)) for row in collected)

        if not self._run(folder, keep):
            self.plan = self._planned()
            assert self._run(folder, keep)
        lowered = [name.lower() for name in names]
        table = LiveTable(None if key is None else [lowered.index(name) for name in key])
        for kind, row in changes:
            table.apply(kind, row)
        return table.newest(1_000_000)

    def _run(self, folder: Path, keep: Any) -> bool:
        """Run it to the end of what its tables have; return whether it got there."""
        place = QueryPlace("differential", str(folder), is_temporary=False)
        with self._environment._running(self._query):
            rows = self._runner.queries.rows(self.plan, ScanContext(streaming=True), place)
        if not rows.isStreaming:
            keep(rows, 0)
            return True
        with self._environment._running(self._query), starting(rows.sparkSession, self.plan):
            writer = rows.writeStream.outputMode(self.plan.output_mode).foreachBatch(keep).trigger(availableNow=True)
            query = writer.option("checkpointLocation", str(folder / "spark")).start()
        try:
            return bool(query.awaitTermination(PATIENCE_S))
        except Exception as error:
            if FAILURE not in str(error):
                raise
            return False
        finally:
            query.stop()
