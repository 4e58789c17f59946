"""Do the driver's work for many tables, some at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def each_table(function: Callable[[T], R], tables: Iterable[T], at_once: int) -> list[R]:
    """Call a function for each table, some at once, and return the results in order.

    All are called, whatever becomes of one, and the first error is raised behind them.

    Args:
        function: The function; it may use the session's JVM.
        tables: Its arguments.
        at_once: The largest number of calls at once.
    """
    with ThreadPoolExecutor(at_once, thread_name_prefix="millrace-tables") as pool:
        futures = [pool.submit(function, table) for table in tables]
    return [future.result() for future in futures]
