"""Restart a streaming query from its checkpoint whenever messages require other columns."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from millrace.contracts.query_schemas import QUERY_SCHEMAS, QuerySchema
from millrace.errors import OptionsError, SchemaChangedError, SchemaError
from millrace.streams import stream_reader
from millrace_catalog.evolution.changes import SchemaChange, describe_change
from millrace_catalog.evolution.evolving_read import evolving_read, layout_of
from millrace_catalog.evolution.evolving_table import EvolvingTable
from millrace_catalog.evolution.schema_scan import find_relevant_messages
from millrace_catalog.evolution.schema_store import SchemaStore
from millrace_catalog.evolution.uncommitted_batch import uncommitted_ranges
from millrace_catalog.jvm import HadoopFolder, session_jvm, tracks_asynchronously
from millrace_catalog.types import Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

    from millrace_catalog.tables.table import KafkaJsonTable

logger = logging.getLogger("millrace.catalog")

StartQuery = Callable[["DataFrame", Schema], "StreamingQuery"]


def restart_on_schema_change(
    table: KafkaJsonTable,
    start: StartQuery,
    *,
    spark: SparkSession,
    checkpoint_location: str,
    options: Mapping[str, str] | None = None,
) -> EvolvingQuery:
    """Run a streaming query whose columns follow the messages of a table.

    The columns of a Spark query are fixed. A micro-batch with a message that does not fit them fails before it is
    committed. Then the columns are changed to hold all of its messages, written to folder ``millrace-schema`` of the
    checkpoint, and the query is restarted: Spark runs the same micro-batch again. No rows are lost, and exactly-once
    writes stay exactly-once. If the process is killed, the next call continues with the columns in the checkpoint.

    With the catalog's option ``schema.inference.strategy`` = ``static`` the columns never change.

    Args:
        table: The table. With a new checkpoint the query starts with its columns.
        start: Function that gets the rows as a stream, and all columns; it starts a query of these rows with exactly
            ``checkpoint_location`` and returns it. It is called at once, and from another thread after each change.
        spark: A classic session.
        checkpoint_location: Location of the query's checkpoint, in any of Hadoop's file systems.
        options: Data source options, as for `KafkaJsonTable.read_stream`.

    Raises:
        MachineError: It is a session of Spark Connect.
        OptionsError: An option is set by the table itself, or the query has another checkpoint location.
        SchemaError: The state in the checkpoint is malformed, or of another table.
    """
    session_jvm(spark, "a managed restart")
    return EvolvingQuery(_QueryRunner(table, start, spark, checkpoint_location, options or {}))


class EvolvingQuery:
    """A query that `restart_on_schema_change` manages; a ``with`` statement stops it at the end."""

    def __init__(self, runner: _QueryRunner) -> None:
        self._runner = runner
        self._lock = threading.Lock()
        self._is_stopping = False
        self._restarts = 0
        self._error: BaseException | None = None
        self._ended = threading.Event()
        self._query = runner.start_first()
        QUERY_SCHEMAS.add(str(self._query.id), lambda: runner.describe(self._restarts))
        self._thread = threading.Thread(
            target=runner.inherit_thread_context(self._restart_until_ended), name="millrace-evolution", daemon=True
        )
        self._thread.start()

    @property
    def query(self) -> StreamingQuery:
        """The running query, or the last one."""
        return self._query

    @property
    def schema(self) -> Schema:
        """Current columns."""
        return self._runner.table.schema

    @property
    def changes(self) -> tuple[SchemaChange, ...]:
        """Changes of the table in order, from its creation; those of earlier runs are included."""
        return self._runner.table.changes()

    @property
    def restarts(self) -> int:
        """Number of restarts."""
        return self._restarts

    def await_termination(self, timeout: float | None = None) -> bool:
        """Wait until the query ends: by `stop`, by an error, or because its trigger has processed everything.

        Args:
            timeout: Maximum time to wait, in seconds; unlimited by default.

        Returns:
            Whether the query has ended.

        Raises:
            SchemaError: A message requires a change that is refused.
            StreamingQueryException: The query failed for another reason.
        """
        ended = self._ended.wait(timeout)
        if ended and self._error is not None:
            raise self._error
        return ended

    def exception(self) -> BaseException | None:
        """Return the error that ended the query; None when there is none."""
        return self._error

    def stop(self) -> None:
        """Stop the query, without further restarts."""
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

    def _restart_until_ended(self) -> None:
        try:
            while (failure := self._await_failure()) is not None and not self._is_stopping:
                self._runner.adapt(failure)
                with self._lock:
                    if self._is_stopping:
                        return
                    self._query = self._runner.start()
                    self._restarts += 1
        except BaseException as error:
            self._error = error
        finally:
            self._ended.set()

    def _await_failure(self) -> Exception | None:
        """Wait for the query; return its failure, or None when it ended without."""
        from pyspark.errors import StreamingQueryException

        try:
            self._query.awaitTermination()
        except StreamingQueryException as error:
            return error
        return None


class _QueryRunner:
    """Start queries with the current columns, and change the columns when a query fails because of them.

    Args: as `restart_on_schema_change`.
    """

    def __init__(
        self, table: KafkaJsonTable, start: StartQuery, spark: SparkSession, checkpoint: str, options: Mapping[str, str]
    ) -> None:
        self._table_source = table
        self._start_query = start
        self._spark = spark
        self._checkpoint = HadoopFolder(spark, checkpoint)
        self._store = SchemaStore(spark, checkpoint)
        self._user_options = dict(options)
        self._layout = layout_of(table)
        state = self._store.load()
        if state is None:
            self.table = self._create()
        else:
            self.table = EvolvingTable.restore(self._layout, state)

    def describe(self, restarts: int) -> QuerySchema:
        """Return the schema for people."""
        versions = tuple(map(describe_change, self.table.changes()))
        return QuerySchema(self._table_source.name, versions, restarts, is_static=self._layout.is_static)

    def inherit_thread_context(self, function: Callable[[], None]) -> Callable[[], None]:
        """Let a function run in another thread with this thread's Spark properties and tags."""
        from pyspark import inheritable_thread_target

        return inheritable_thread_target(self._spark)(function)

    def start_first(self) -> StreamingQuery:
        """Start the first query; OptionsError when it has another checkpoint."""
        query = self.start()
        try:
            self._check_checkpoint(query)
            _check_progress(query)
        except BaseException:
            query.stop()
            raise
        return query

    def start(self) -> StreamingQuery:
        """Start a query with the current columns."""
        from millrace_catalog.types.spark import to_spark_schema

        read = evolving_read(self._table_source.name, self._table_source.config, self.table, self._user_options)
        columns = to_spark_schema(self.table.schema)
        if read.key_probe is not None:
            columns.add(read.key_probe, "string")
        reader = stream_reader(self._spark, self._table_source.name).format("millrace")
        rows = reader.options(**read.options).schema(columns).load()
        return self._start_query(rows if read.key_probe is None else rows.drop(read.key_probe), self.table.schema)

    def adapt(self, failure: Exception) -> None:
        """Change the table so that it holds the micro-batch that failed, and store its state.

        Raises:
            SchemaError: A message requires a change that is refused, or all messages fit already.
            Exception: The failure itself, when it has another cause.
        """
        reason = SchemaChangedError.message_in(failure)
        if reason is None:
            raise failure
        ranges = uncommitted_ranges(self._checkpoint, self._table_source.name)
        options = {**self._table_source.options, **self._user_options}
        state = self.table.state()
        messages = find_relevant_messages(self._spark, self._layout, state, ranges, options) if ranges else []
        changed = self.table.copy()
        try:
            changes = changed.observe_all(messages)
        except SchemaError as error:
            raise error from failure
        if not changes:
            raise SchemaError(
                f"the query failed because of its columns, but all messages of its micro-batch fit them "
                f"({', '.join(map(str, ranges)) or 'the checkpoint has no uncommitted one'}): {reason}"
            ) from failure
        self._store.save(changed.version, changed.state())
        self.table = changed
        logger.info("restarting the query of table %r with changed columns: %s", self._table_source.name, changes)

    def _create(self) -> EvolvingTable:
        schema = self._table_source.table_schema
        table = EvolvingTable.create(
            self._layout,
            self._table_source.columns_schema,
            self._table_source.primary_key,
            schema.names_of("key"),
            key_is_json=schema.key_is_json,
        )
        self._store.save(table.version, table.state())
        return table

    def _check_checkpoint(self, query: StreamingQuery) -> None:
        metadata: Any = json.loads(self._checkpoint.read("metadata")) if self._checkpoint.exists("metadata") else {}
        if metadata.get("id") != query.id:
            raise OptionsError(
                "query",
                (
                    f"start() must give its query the option checkpointLocation = "
                    f"{self._checkpoint.path('')!r}, the checkpoint_location of restart_on_schema_change",
                ),
            )


def _check_progress(query: StreamingQuery) -> None:
    if tracks_asynchronously(query):
        raise OptionsError(
            "query",
            (
                "restart_on_schema_change excludes 'asyncProgressTrackingEnabled' = 'true': the columns follow the "
                "messages of the micro-batch that failed, which the checkpoint may not have then. Leave the option out",
            ),
        )
