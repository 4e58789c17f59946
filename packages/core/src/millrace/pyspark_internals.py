"""All uses of PySpark that its documentation does not promise.

Nothing else in core uses them. `tests/unit/core/test_pyspark_internals.py` and
`tests/integration/test_pyspark_internals.py` fail first when Spark changes one.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    from pyspark import SparkContext, TaskContext
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming import DataStreamWriter, StreamingQuery
    from pyspark.sql.types import DataType, StructType


def to_arrow_schema(schema: StructType) -> pa.Schema:
    """Translate a schema as Spark does for rows that it exchanges with Python; timestamps are in UTC.

    Raises:
        PySparkException: A column has a type that Arrow lacks.
    """
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(schema, timezone="UTC")


def from_arrow_schema(schema: pa.Schema) -> StructType:
    """Translate an Arrow schema to Spark's."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def from_arrow_type(type_: pa.DataType) -> DataType:
    """Translate an Arrow type to Spark's."""
    from pyspark.sql.pandas.types import from_arrow_type

    return from_arrow_type(type_)


def streaming_query_id(context: TaskContext | SparkContext) -> str:
    """The id of the streaming query of a task, or of a thread of the driver; Spark's own sinks find it so too."""
    return context.getLocalProperty("sql.streaming.queryId") or ""


def micro_batch_id(context: TaskContext) -> int:
    """The number of the micro-batch that a task belongs to."""
    return int(context.getLocalProperty("streaming.sql.batchId") or 0)


def query_run_id(context: TaskContext) -> str:
    """The run of the streaming query that a task belongs to.

    Spark groups a query's jobs by its run. Inside foreachBatch the user's code may give its jobs another group, and so
    another description, which names the run too. Then the run is known by the session that Spark clones for each one:
    the tags of a job name it, with the query's execution, which is the root of those in the callback.
    """
    described = re.search(r"^runId = (\S+)$", context.getLocalProperty("spark.job.description") or "", re.MULTILINE)
    if described:
        return described[1]
    tags = context.getLocalProperty("spark.job.tags") or ""
    cloned = re.search(r"(?:^|,)spark-session-([0-9a-f-]{36})-execution-root-id-", tags)
    return cloned[1] if cloned else context.getLocalProperty("spark.jobGroup.id") or ""


def session_setting(context: TaskContext, name: str) -> str | None:
    """A setting of the session that a task belongs to; None unless the session sets it."""
    return context.getLocalProperty(name)


def set_active_session(spark: SparkSession) -> None:
    """Make a session that of this thread, in the JVM; a Connect session is left alone, whose server needs nothing.

    PySpark does so in `SparkSession.createDataFrame` alone, but Spark looks for data sources in Python in the active
    session of the thread that writes.
    """
    session = getattr(spark, "_jsparkSession", None)
    if session is not None:
        session.setActiveSession(session)
        _mark_thread(spark, session.sharedState().activeStreamingQueries())


_ASYNC_EXECUTION = "AsyncProgressTrackingMicroBatchExecution"


def _mark_thread(spark: SparkSession, running: Any) -> None:
    """Tell the tasks of this thread's jobs what only the driver knows of the streams that are running."""
    context = spark.sparkContext
    query = streaming_query_id(context)
    if query:
        execution = running.get(context._jvm.java.util.UUID.fromString(query))
        is_async = execution is not None and execution.getClass().getSimpleName() == _ASYNC_EXECUTION
        context.setLocalProperty(TRACKS_ASYNCHRONOUSLY, "true" if is_async else None)
    else:
        context.setLocalProperty(BESIDE_STREAMS, None if running.isEmpty() else "true")


TRACKS_ASYNCHRONOUSLY = "millrace.progress.asynchronous"
"""Property of the jobs of a query with asynchronous progress tracking; "true" if it is set."""

BESIDE_STREAMS = "millrace.beside.streams"
"""Property of the jobs of a thread that belongs to no query, and was given its session while one was running."""


def thread_properties(spark: SparkSession) -> Any | None:
    """Return a copy of the properties that Spark gives to the jobs of this thread; None for a Connect session."""
    return None if getattr(spark, "_jsparkSession", None) is None else _java_context(spark).getLocalProperties().clone()


def set_thread_properties(spark: SparkSession, properties: Any | None) -> None:
    """Give jobs of this thread the properties that `thread_properties` has returned in another one."""
    if properties is not None:
        # Each thread changes its own
        _java_context(spark).setLocalProperties(properties.clone())


def _java_context(spark: SparkSession) -> Any:
    return spark.sparkContext._jsc.sc()


def mark_callbacks_of_streams() -> None:
    """Mark the threads in which Spark calls the function of a foreachBatch; patches PySpark once per process.

    A write in the callback shows nothing of its query's options, and Spark hands them to nobody but the query.
    """
    from pyspark.sql.streaming import DataStreamWriter

    for_each_batch = DataStreamWriter.foreachBatch
    if hasattr(for_each_batch, "__wrapped__"):
        return

    @functools.wraps(for_each_batch)
    def mark_and_call(writer: DataStreamWriter, func: Callable[[DataFrame, int], None]) -> DataStreamWriter:
        threads = threading.local()

        @functools.wraps(func)
        def marked(batch: DataFrame, number: int) -> None:
            # Each run has a thread of its own, which keeps its properties; asking Java for them takes its time
            if not (hasattr(threads, "is_marked") and _pins_threads()):
                set_active_session(batch.sparkSession)
                threads.is_marked = True
            func(batch, number)

        return for_each_batch(writer, marked)

    DataStreamWriter.foreachBatch = mark_and_call


def _pins_threads() -> bool:
    """Return whether each thread of Java that calls Python has a thread of its own here, as PySpark decides it."""
    return os.environ.get("PYSPARK_PIN_THREAD", "true").lower() == "true"


def empty_dataframe(spark: SparkSession, schema: StructType) -> DataFrame:
    """Return a frame without rows.

    PySpark's `createDataFrame` would make the session the active one of the whole process, so that the program went on
    with the settings of a session that it has never seen.
    """
    jvm, session = getattr(spark, "_jvm", None), getattr(spark, "_jsparkSession", None)
    if jvm is None or session is None:
        return spark.createDataFrame([], schema)
    from pyspark.sql.classic.dataframe import DataFrame

    rows = jvm.java.util.ArrayList()
    return DataFrame(session.createDataFrame(rows, session.parseDataType(schema.json())), spark)


def has_jvm() -> bool:
    """Return whether this process has started Spark's Java process; it imports nothing to find out."""
    return "pyspark.core.context" in sys.modules and _jvm() is not None


def jvm_variables(names: Iterable[str]) -> dict[str, str] | None:
    """Return environment variables of Spark's Java process, if it has them; None where there is no such process."""
    from py4j.protocol import Py4JError

    if not has_jvm():
        return None
    try:
        values = {name: _jvm().java.lang.System.getenv(name) for name in names}
    except (Py4JError, OSError):
        # It has ended
        return None
    return {name: str(value) for name, value in values.items() if value is not None}


def state_message_problem() -> str | None:
    """Return why the messages of ``transformWithState`` cannot be imported, which need protobuf; None if they can."""
    try:
        from pyspark.sql.streaming.proto import StateMessage_pb2  # noqa: F401 - protobuf checks its version
    except Exception as failure:
        # protobuf's own class of this error is missing where protobuf is
        return f"{type(failure).__name__}: {failure}"
    return None


def delete_at_end_of_jvm(paths: Iterable[Path]) -> bool:
    """Let this process's Java delete files, links and empty folders at its end, the last of them first.

    Returns:
        Whether there is a Java process.
    """
    jvm = _jvm()
    if jvm is None:
        return False
    for path in paths:
        jvm.java.io.File(str(path)).deleteOnExit()
    return True


def _jvm() -> Any:
    from pyspark import SparkContext

    return SparkContext._jvm


def hide_worker_traceback() -> None:
    """Leave the Python stack of this worker out of the error that Spark raises on the driver.

    The setting ``spark.sql.execution.pyspark.udf.hideTraceback.enabled`` sets the same environment variable. The stack
    stays where ``MILLRACE_FULL_TRACEBACKS`` = ``1`` is in the environment.
    """
    if os.environ.get("MILLRACE_FULL_TRACEBACKS") != "1":
        os.environ["SPARK_HIDE_TRACEBACK"] = "1"


@functools.cache
def silence_lost_worker() -> None:
    """Keep this worker from printing a traceback when Spark has closed its connection; patches once per process.

    Spark closes the connection of a worker that has more rows than wanted, as of ``show()``, and those of a query that
    is stopped or fails. PySpark's daemon, from which the worker is forked, prints the error of the connection by
    `traceback.print_exc` or `print`, and ends the worker.
    """
    if not sys.argv[0].endswith("daemon.py"):
        return
    traceback.print_exc = _unless_disconnected(traceback.print_exc)
    for name in ("pyspark.daemon", "__main__"):
        module: Any = sys.modules.get(name)
        if str(getattr(module, "__file__", "")).endswith("daemon.py"):
            module.print = _unless_disconnected(getattr(module, "print", print))


def _unless_disconnected(function: Callable[..., None]) -> Callable[..., None]:
    def call(*args: Any, **settings: Any) -> None:
        of_daemon = sys._getframe(1).f_code.co_filename.endswith("daemon.py")
        if not (of_daemon and isinstance(sys.exception(), ConnectionError)):
            function(*args, **settings)

    return call


def is_stopped(session: SparkSession) -> bool:
    """Return whether a session has been stopped; a classic one asks no process, as Java may have ended, too."""
    if getattr(session, "_jsparkSession", None) is None:
        return bool(session.is_stopped)
    return session.sparkContext._jsc is None


def session_id(session: SparkSession) -> str:
    """Return the id of a session: several objects of Python may stand for one session of Java."""
    classic = getattr(session, "_jsparkSession", None)
    return str(session.session_id if classic is None else classic.sessionUUID())


def driver_jvm(session: SparkSession) -> Any | None:
    """Return py4j's view of the JVM of the driver; None for a session of Spark Connect, which has none of its own."""
    return getattr(session, "_jvm", None)


def parsed_column(spark: SparkSession, expression: str) -> Column:
    """Return a column of an expression that is parsed now, once; `pyspark.sql.functions.expr` parses at each use."""
    from pyspark.sql import Column

    jvm: Any = spark._jvm
    parsed = spark._jsparkSession.sessionState().sqlParser().parseExpression(expression)
    return Column(jvm.org.apache.spark.sql.classic.ExpressionUtils.column(parsed))


def explain_streaming_query(query: StreamingQuery) -> str:
    """Return the plan of a query's last micro-batch, which PySpark only prints."""
    java = getattr(query, "_jsq", None)
    if java is not None:
        return str(java.explainInternal(False))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        query.explain()
    return printed.getvalue()


def options_of_streaming_query(query: StreamingQuery) -> list[tuple[str, dict[str, str]]]:
    """Return the options of a running query's reads, each with ``read`` and its number, and of its write.

    They are those that its program has set, with secrets. There are none of a Connect query, and none before its first
    micro-batch.
    """
    java = getattr(query, "_jsq", None)
    if java is None:
        return []
    plan = java.streamingQuery().logicalPlan()
    leaves = plan.collectLeaves()
    reads = [(f"read {at + 1}", _read_options(leaves.apply(at))) for at in range(leaves.size())]
    return [(owner, options) for owner, options in [*reads, ("write", _write_options(plan))] if options]


def _read_options(leaf: Any) -> dict[str, str]:
    if not leaf.getClass().getSimpleName().startswith("StreamingDataSourceV2"):
        return {}
    return dict(leaf.relation().options().asCaseSensitiveMap())


def _write_options(plan: Any) -> dict[str, str]:
    if plan.getClass().getSimpleName() != "WriteToMicroBatchDataSource":
        return {}
    pairs, options = plan.writeOptions().iterator(), {}
    while pairs.hasNext():
        pair = pairs.next()
        options[pair._1()] = pair._2()
    return options
