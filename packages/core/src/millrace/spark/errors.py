"""Show millrace's errors to the user of Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from millrace.errors import MillraceError
from millrace.pyspark_internals import hide_worker_traceback


@contextmanager
def user_errors() -> Iterator[None]:
    """Let a MillraceError reach the user as its message alone.

    Spark puts the Python stack of a failed worker into the error that it raises on the driver. A MillraceError says
    all that a person needs, so its stack is left out. The worker ends with this error in any case, so that no other
    error is affected.
    """
    try:
        yield
    except MillraceError:
        hide_worker_traceback()
        raise
