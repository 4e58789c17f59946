"""The division of a micro-batch into tasks, which must be the same when the micro-batch is repeated."""

from __future__ import annotations

from pyspark import TaskContext

from millrace.errors import OptionsError
from millrace.pyspark_internals import session_setting

STATELESS_ADAPTIVE_EXECUTION = "spark.sql.adaptive.streaming.stateless.enabled"
"""Spark's setting, true by default, that divides a shuffle by the sizes of its parts and the number of cores."""

# Spark turns the former off for queries with state
_OFF = (STATELESS_ADAPTIVE_EXECUTION, "spark.sql.adaptive.enabled")


def check_division_is_repeatable(context: TaskContext) -> None:
    """Check that Spark divides a repeated micro-batch as it did before; in a task, before it writes.

    Raises:
        OptionsError: The session's settings let it divide otherwise.
    """
    settings = (session_setting(context, name) for name in _OFF)
    if not any(setting is not None and setting.lower() == "false" for setting in settings):
        problem = (
            f"exactly-once requires the session's setting '{STATELESS_ADAPTIVE_EXECUTION}' to be 'false'. Otherwise "
            f"Spark divides a micro-batch by the number of cores, and a repeated one into other tasks than those that "
            f"have written it. Call spark.conf.set('{STATELESS_ADAPTIVE_EXECUTION}', 'false') before the query "
            f"starts, or pass it to spark-submit with --conf"
        )
        raise OptionsError("sink", (problem,))
