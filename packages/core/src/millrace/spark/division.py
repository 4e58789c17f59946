"""The division of a micro-batch into tasks, which Spark may choose anew when the micro-batch is repeated."""

from __future__ import annotations

from pyspark import TaskContext

from millrace.errors import OptionsError
from millrace.options.connector import SinkOptions
from millrace.pyspark_internals import session_setting

STATELESS_ADAPTIVE_EXECUTION = "spark.sql.adaptive.streaming.stateless.enabled"
"""Spark's setting, true by default, that divides a shuffle by the sizes of its parts and the number of cores."""

ADAPTIVE_EXECUTION = "spark.sql.adaptive.enabled"
"""Spark's setting that does the same for batch queries, of which a foreachBatch callback consists. Spark turns it off
itself for a streaming query with state."""


def may_divide_anew(context: TaskContext, options: SinkOptions, *, is_batch: bool) -> bool:
    """Return whether Spark may divide a repeated micro-batch into other tasks than before; in a task.

    Args:
        context: The task's context.
        options: The sink's options.
        is_batch: Whether the task belongs to a batch write inside foreachBatch.

    Raises:
        OptionsError: It may, and the number of rows, which is all that tasks compare, would not show it.
    """
    deciding = (ADAPTIVE_EXECUTION,) if is_batch else (STATELESS_ADAPTIVE_EXECUTION, ADAPTIVE_EXECUTION)
    settings = (session_setting(context, name) for name in deciding)
    if any(setting is not None and setting.lower() == "false" for setting in settings):
        return False
    if not options.is_digested:
        reason = "a buffer" if options.is_buffered else "'sink.exactly-once.compare-by' = 'count'"
        writer = "exactly-once inside foreachBatch" if is_batch else "exactly-once"
        problem = (
            f"{writer} with {reason} requires the session's setting '{deciding[0]}' to be 'false'. Otherwise Spark "
            f"divides a shuffled micro-batch by the number of cores, and a repeated one into other tasks than those "
            f"that have written it, perhaps with as many rows. Call spark.conf.set('{deciding[0]}', 'false') before "
            f"the query starts, or pass it to spark-submit with --conf"
        )
        raise OptionsError("sink", (problem,))
    return True
