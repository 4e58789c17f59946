"""A streaming query that is started anew, from the same checkpoint, whenever messages need other columns."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from millrace.errors import OptionsError, SchemaChangedError, SchemaError
from millrace_catalog.evolution.changes import SchemaChange
from millrace_catalog.evolution.evolving_read import evolving_read, layout_of
from millrace_catalog.evolution.evolving_table import EvolvingTable
from millrace_catalog.evolution.schema_scan import find_messages
from millrace_catalog.evolution.schema_store import KeptState
from millrace_catalog.evolution.uncommitted_batch import pending_ranges
from millrace_catalog.jvm.folder import Folder
from millrace_catalog.jvm.session import jvm_of
from millrace_catalog.types import Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

    from millrace_catalog.tables.table import KafkaJsonTable

logger = logging.getLogger("millrace.catalog")

Start = Callable[["DataFrame", Schema], "StreamingQuery"]


def restart_on_schema_change(
    table: KafkaJsonTable,
    start: Start,
    *,
    spark: SparkSession,
    checkpoint_location: str,
    options: Mapping[str, str] | None = None,
) -> EvolvingQuery:
    """Run a streaming query whose columns follow the messages of a table.

    The columns of a query of Spark are fixed. A micro-batch with a message that does not fit them fails before it is
    done; then the columns become what all its messages need, which is kept in the folder ``millrace-schema`` of the
    checkpoint, and the query is started anew from there: Spark does the same micro-batch again. Nothing is lost, and
    what the query writes exactly once stays so. Where the process is killed, the next call goes on from what is kept.

    With the catalog's option ``schema.inference.strategy`` = ``static`` the columns stay what they were at first.

    Args:
        table: The table; of a new checkpoint it tells the columns to begin with.
        start: Gets the rows as a stream, and all columns; starts a query of these rows with exactly
            ``checkpoint_location`` and returns it. It is called at once, and from another thread after each change.
        spark: A classic session.
        checkpoint_location: The location of the query's checkpoint, in any file system that Spark knows.
        options: Options of the data source, as for `KafkaJsonTable.read_stream`.

    Raises:
        MachineError: The session is one of Spark Connect.
        OptionsError: An option says what the table says itself, or the query has another checkpoint location.
        SchemaError: What is kept cannot be read, or is of another table.
    """
    jvm_of(spark, "a managed restart")
    return EvolvingQuery(_Run(table, start, spark, checkpoint_location, options or {}))


class EvolvingQuery:
    """A query that `restart_on_schema_change` manages; in a ``with`` statement it is stopped at the end."""

    def __init__(self, run: _Run) -> None:
        self._run = run
        self._lock = threading.Lock()
        self._is_stopping = False
        self._restarts = 0
        self._error: BaseException | None = None
        self._ended = threading.Event()
        self._query = run.first()
        self._thread = threading.Thread(target=run.carried(self._follow), name="millrace-evolution", daemon=True)
        self._thread.start()

    @property
    def query(self) -> StreamingQuery:
        """The query that runs now, or has run last."""
        return self._query

    @property
    def schema(self) -> Schema:
        """The columns of now."""
        return self._run.table.schema

    @property
    def changes(self) -> tuple[SchemaChange, ...]:
        """The changes of the table, in order, its creation first; those of earlier runs included."""
        return self._run.table.changes()

    @property
    def restarts(self) -> int:
        """How often it was started anew."""
        return self._restarts

    def await_termination(self, timeout: float | None = None) -> bool:
        """Wait until it has ended, by `stop`, by an error, or because its trigger has nothing more to do.

        Args:
            timeout: How long to wait, in seconds; for ever by default.

        Returns:
            Whether it has ended.

        Raises:
            SchemaError: A message needs what is refused, or what no change of columns gives.
            StreamingQueryException: The query has failed for another reason.
        """
        ended = self._ended.wait(timeout)
        if ended and self._error is not None:
            raise self._error
        return ended

    def exception(self) -> BaseException | None:
        """Why it has failed; None when it has not."""
        return self._error

    def stop(self) -> None:
        """Stop the query, and start none any more."""
        with self._lock:
            self._is_stopping = True
            self._query.stop()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _follow(self) -> None:
        try:
            while (failure := self._failure()) is not None and not self._is_stopping:
                self._run.adapt(failure)
                with self._lock:
                    if self._is_stopping:
                        return
                    self._query = self._run.started()
                    self._restarts += 1
        except BaseException as error:
            self._error = error
        finally:
            self._ended.set()

    def _failure(self) -> Exception | None:
        """How the query failed; None when it ended without."""
        from pyspark.errors import StreamingQueryException

        try:
            self._query.awaitTermination()
        except StreamingQueryException as error:
            return error
        return None


class _Run:
    """What is done for a query: its table is kept and changed, and queries are started.

    Args: as `restart_on_schema_change`.
    """

    def __init__(
        self, table: KafkaJsonTable, start: Start, spark: SparkSession, checkpoint: str, options: Mapping[str, str]
    ) -> None:
        self._source = table
        self._start = start
        self._spark = spark
        self._checkpoint = Folder(spark, checkpoint)
        self._kept = KeptState(spark, checkpoint)
        self._given = dict(options)
        self._layout = layout_of(table)
        state = self._kept.load()
        if state is None:
            self.table = self._created()
        else:
            self.table = EvolvingTable.restore(self._layout, state)

    def carried(self, function: Callable[[], None]) -> Callable[[], None]:
        """A function that runs in another thread as it would in this one."""
        from pyspark import inheritable_thread_target

        return inheritable_thread_target(self._spark)(function)

    def first(self) -> StreamingQuery:
        """The query, for the first time; OptionsError if it has another checkpoint."""
        query = self.started()
        try:
            self._check_checkpoint(query)
        except BaseException:
            query.stop()
            raise
        return query

    def started(self) -> StreamingQuery:
        """The query with the columns of now."""
        from millrace_catalog.types.spark import to_spark_schema

        read = evolving_read(self._source.name, self._source.configured, self.table, self._given)
        columns = to_spark_schema(self.table.schema)
        if read.watched is not None:
            columns.add(read.watched, "string")
        rows = self._spark.readStream.format("millrace").options(**read.options).schema(columns).load()
        return self._start(rows if read.watched is None else rows.drop(read.watched), self.table.schema)

    def adapt(self, failure: Exception) -> None:
        """Make the table hold the micro-batch that failed, and keep that.

        Raises:
            SchemaError: A message needs what is refused, or all messages fit already.
            Exception: The failure itself, when it is another one.
        """
        mismatch = SchemaChangedError.message_in(failure)
        if mismatch is None:
            raise failure
        ranges = pending_ranges(self._checkpoint, self._source.name)
        options = {**self._source.options, **self._given}
        found = find_messages(self._spark, self._layout, self.table.state(), ranges, options) if ranges else []
        grown = self.table.copy()
        try:
            changes = grown.take(found)
        except SchemaError as error:
            raise error from failure
        if not changes:
            raise SchemaError(
                f"the query asked for other columns, but all messages of its micro-batch fit the ones that it has "
                f"({', '.join(map(str, ranges)) or 'there is none in the checkpoint'}): "
                f"{mismatch}"
            ) from failure
        self._kept.save(grown.version, grown.state())
        self.table = grown
        logger.info("table %r has changed, and its query is started anew: %s", self._source.name, changes)

    def _created(self) -> EvolvingTable:
        shape = self._source.shape
        made = EvolvingTable.create(
            self._layout,
            self._source.columns_schema,
            self._source.primary_key,
            shape.names_of("key"),
            key_is_json=shape.key_is_json,
        )
        self._kept.save(made.version, made.state())
        return made

    def _check_checkpoint(self, query: StreamingQuery) -> None:
        found: Any = json.loads(self._checkpoint.read("metadata")) if self._checkpoint.exists("metadata") else {}
        if found.get("id") != query.id:
            raise OptionsError(
                "query",
                (
                    f"start() must give its query the option checkpointLocation = "
                    f"{self._checkpoint.path('')!r}, as restart_on_schema_change was told",
                ),
            )
