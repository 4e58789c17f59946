"""How millrace's errors look when they reach the user through Spark."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from millrace.errors import MillraceError


@contextmanager
def user_errors() -> Iterator[None]:
    """Let a MillraceError reach the user as its message alone.

    Spark puts the Python stack of a failed worker into the error that it raises on the driver. A MillraceError says
    all that a person needs, so its stack is left out, by the environment variable that Spark's own setting
    ``spark.sql.execution.pyspark.udf.hideTraceback.enabled`` sets. The worker ends with this error in any case, so
    nobody else's errors are touched.
    """
    try:
        yield
    except MillraceError:
        os.environ["SPARK_HIDE_TRACEBACK"] = "1"
        raise
