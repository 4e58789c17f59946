"""Show failures of queries in a few lines, without the frames of PySpark and Java around them."""

from __future__ import annotations

import linecache
import os
import sys
import traceback
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from millrace.api.console_log import shorten_console_log
from millrace.errors import MillraceError
from millrace.failures import Explanation, explain_condition, explain_failure

Hook = Callable[[type[BaseException], BaseException, TracebackType | None], Any]

FULL_TRACEBACKS = "MILLRACE_FULL_TRACEBACKS"
"""The environment variable that turns short tracebacks off when it is 1."""

_TWICE_TOLD = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
"""Loggers of PySpark that write each error of a query, which is raised too, as a line of JSON."""

_EXPLAINED = (PySparkException, Py4JError, MillraceError)

_LIBRARIES = {"pyspark", "py4j", "IPython", "ipykernel", *sys.stdlib_module_names}


class _ShortTracebacks:
    """A `sys.excepthook` that shortens the failures it recognizes, and leaves others to the former hook."""

    def __init__(self, former: Hook) -> None:
        self._former = former

    def __call__(self, kind: type[BaseException], failure: BaseException, trace: TracebackType | None) -> None:
        lines = short_traceback(failure)
        if lines is None:
            self._former(kind, failure, trace)
        else:
            sys.stderr.write("\n".join([*lines, ""]))


def install_short_tracebacks(spark: SparkSession | None = None) -> None:
    """Show uncaught errors of queries as one sentence and the line of the program that failed.

    It works in scripts and in IPython, for failures that `millrace.failures.explain_failure` explains and for Spark
    errors with an error condition. All other errors are shown as before. `local_session` and the command ``millrace``
    call it. The environment variable ``MILLRACE_FULL_TRACEBACKS`` = ``1`` turns it off.

    Args:
        spark: The session whose driver also logs each failure in one line, without Java frames. By default the active
        one. This affects only the console, not log files.
    """
    if os.environ.get(FULL_TRACEBACKS) == "1":
        return
    session = spark or SparkSession.getActiveSession()
    if session is not None:
        shorten_console_log(session)
    silence_query_loggers()
    if not isinstance(sys.excepthook, _ShortTracebacks):
        sys.excepthook = _ShortTracebacks(sys.excepthook)
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None:
        shell.set_custom_exc(_EXPLAINED, _show_in_ipython)


def silence_query_loggers() -> None:
    """Keep PySpark from logging the errors of queries, which it raises too."""
    for name in _TWICE_TOLD:
        PySparkLogger.getLogger(name).disabled = True


def short_traceback(failure: BaseException, *, others: bool = True) -> list[str] | None:
    """Return what is shown of a failure: the line of the program that failed, and a sentence.

    Args:
        failure: An exception that was raised.
        others: Whether that holds for errors of Spark that have a condition, too, and nothing to do with millrace.

    Returns:
        Lines; None for a failure that is not known, and where full tracebacks are wanted.
    """
    if os.environ.get(FULL_TRACEBACKS) == "1":
        return None
    # The text of any other exception may say the same, and mean something else
    explanation = explain_failure(failure) if isinstance(failure, _EXPLAINED) else None
    if explanation is None and others and isinstance(failure, PySparkException):
        explanation = explain_condition(failure)
    if explanation is None and _is_refused_argument(failure):
        explanation = Explanation(type(failure).__name__, str(failure))
    if explanation is None:
        return None
    steps = [(frame, line) for frame, line in traceback.walk_tb(failure.__traceback__) if not _is_in_a_library(frame)]
    program = traceback.StackSummary.extract(iter(steps[-1:])).format()
    return [*"".join(program).splitlines()[:2], *str(explanation).splitlines()]


def _is_refused_argument(failure: BaseException) -> bool:
    """Return whether a function of millrace has raised an exception since it was given a wrong argument."""
    if not isinstance(failure, (TypeError, ValueError)):
        return False
    *_, (frame, line) = traceback.walk_tb(failure.__traceback__)
    statement = linecache.getline(frame.f_code.co_filename, line)
    return _is_in_millrace(frame) and statement.lstrip().startswith("raise ")


def _is_in_a_library(frame: FrameType) -> bool:
    return _package(frame) in _LIBRARIES or _is_in_millrace(frame)


def _is_in_millrace(frame: FrameType) -> bool:
    return _package(frame) == "millrace" or _package(frame).startswith("millrace_")


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def _show_in_ipython(
    shell: Any, kind: type[BaseException], failure: BaseException, trace: TracebackType, tb_offset: int | None = None
) -> None:
    lines = short_traceback(failure)
    if lines is not None:
        # IPython's own way to let an exception say how it is shown
        failure._render_traceback_ = lambda: lines  # type: ignore[attr-defined] # IPython looks for it
    shell.showtraceback((kind, failure, trace), tb_offset=tb_offset)
