"""All uses of PySpark that its documentation does not promise.

Nothing else in core uses them. `tests/unit/core/test_pyspark_internals.py` and
`tests/integration/test_pyspark_internals.py` fail first when Spark changes one.
"""

from __future__ import annotations

import functools
import os
import sys
import traceback
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    from pyspark import SparkContext, TaskContext
    from pyspark.sql import Column, DataFrame, SparkSession
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
    """The run of the streaming query that a task belongs to: Spark groups a query's jobs by its run."""
    return context.getLocalProperty("spark.jobGroup.id") or ""


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


def empty_dataframe(spark: SparkSession, schema: StructType) -> DataFrame:
    """Make a DataFrame without rows; `SparkSession.createDataFrame` makes its session the active one, for good."""
    from pyspark.sql import DataFrame

    jvm: Any = spark._jvm
    session: Any = spark._jsparkSession
    columns = session.parseDataType(schema.json())
    return DataFrame(session.createDataFrame(jvm.java.util.ArrayList(), columns), spark)


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


def driver_jvm(session: SparkSession) -> Any | None:
    """Return py4j's view of the JVM of the driver; None for a session of Spark Connect, which has none of its own."""
    return getattr(session, "_jvm", None)


def parsed_column(spark: SparkSession, expression: str) -> Column:
    """Return a column of an expression that is parsed now, once; `pyspark.sql.functions.expr` parses at each use."""
    from pyspark.sql import Column

    jvm: Any = spark._jvm
    parsed = spark._jsparkSession.sessionState().sqlParser().parseExpression(expression)
    return Column(jvm.org.apache.spark.sql.classic.ExpressionUtils.column(parsed))
