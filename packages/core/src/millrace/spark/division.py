"""The division of a micro-batch into tasks, which must be the same when the micro-batch is repeated."""

from __future__ import annotations

from pyspark import TaskContext

from millrace.errors import OptionsError
from millrace.pyspark_internals import session_setting

STATELESS_ADAPTIVE_EXECUTION = "spark.sql.adaptive.streaming.stateless.enabled"
"""Spark's setting, true by default, that divides a shuffle by the sizes of its parts and the number of cores."""

ADAPTIVE_EXECUTION = "spark.sql.adaptive.enabled"
"""Spark's setting that does the same for batch queries, of which a foreachBatch callback consists. Spark turns it off
itself for a streaming query with state."""


def check_division_is_repeatable(context: TaskContext, *, is_batch: bool = False) -> None:
    """Check that Spark divides a repeated micro-batch as it did before; in a task, before it writes.

    Args:
        context: The task's context.
        is_batch: Whether the task belongs to a batch write inside foreachBatch.

    Raises:
        OptionsError: The session's settings let it divide otherwise.
    """
    deciding = (ADAPTIVE_EXECUTION,) if is_batch else (STATELESS_ADAPTIVE_EXECUTION, ADAPTIVE_EXECUTION)
    settings = (session_setting(context, name) for name in deciding)
    if not any(setting is not None and setting.lower() == "false" for setting in settings):
        writer = "exactly-once inside foreachBatch" if is_batch else "exactly-once"
        problem = (
            f"{writer} requires the session's setting '{deciding[0]}' to be 'false'. Otherwise Spark divides a "
            f"micro-batch by the number of cores, and a repeated one into other tasks than those that have written it. "
            f"Call spark.conf.set('{deciding[0]}', 'false') before the query starts, or pass it to spark-submit with "
            f"--conf"
        )
        raise OptionsError("sink", (problem,))
