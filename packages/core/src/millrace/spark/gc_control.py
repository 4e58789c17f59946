"""Python's garbage collector in Spark's Python workers."""

from __future__ import annotations

import functools
import gc


@functools.cache
def exempt_what_is_loaded() -> None:
    """Take all objects that exist now out of the garbage collector's sight; once per process.

    Spark's worker daemon collects garbage after every task of a reused worker. With pyarrow and this package loaded
    that looks at some hundred thousand objects that live as long as the process: 30 ms of CPU a task, which is more
    than a small micro-batch needs for all else.
    """
    gc.collect()
    gc.freeze()
