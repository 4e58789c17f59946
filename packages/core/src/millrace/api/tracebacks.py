"""Show failures of queries in a few lines, without the frames of PySpark and Java around them."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from millrace.errors import MillraceError
from millrace.failures import explain_failure

Hook = Callable[[type[BaseException], BaseException, TracebackType | None], Any]

FULL_TRACEBACKS = "MILLRACE_FULL_TRACEBACKS"
"""The environment variable that turns short tracebacks off when it is 1."""

_LIBRARIES = {"pyspark", "py4j", "IPython", "ipykernel", *sys.stdlib_module_names}


class _ShortTracebacks:
    """An `sys.excepthook` that shows failures that are known in short, and leaves others to the former hook."""

    def __init__(self, former: Hook) -> None:
        self._former = former

    def __call__(self, kind: type[BaseException], failure: BaseException, trace: TracebackType | None) -> None:
        lines = short_traceback(failure)
        if lines is None:
            self._former(kind, failure, trace)
        else:
            sys.stderr.write("\n".join([*lines, ""]))


def install_short_tracebacks() -> None:
    """Let a failure of a query that nothing catches be shown as the line of the program that failed, and a sentence.

    That holds for scripts and for IPython, and for failures that `millrace.failures.explain_failure` knows; all others
    are shown as before. `local_session` and the command ``millrace`` call it. The environment variable
    ``MILLRACE_FULL_TRACEBACKS`` = ``1`` turns it off.
    """
    if not isinstance(sys.excepthook, _ShortTracebacks):
        sys.excepthook = _ShortTracebacks(sys.excepthook)
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None:
        shell.set_custom_exc((PySparkException, Py4JError, MillraceError), _show_in_ipython)


def short_traceback(failure: BaseException) -> list[str] | None:
    """Return what is shown of a failure: the line of the program that failed, and a sentence.

    Args:
        failure: An exception that was raised.

    Returns:
        Lines; None for a failure that is not known, and where full tracebacks are wanted.
    """
    explanation = None if os.environ.get(FULL_TRACEBACKS) == "1" else explain_failure(failure)
    if explanation is None:
        return None
    steps = [(frame, line) for frame, line in traceback.walk_tb(failure.__traceback__) if not _is_in_a_library(frame)]
    program = traceback.StackSummary.extract(iter(steps[-1:])).format()
    return [*"".join(program).splitlines()[:2], *str(explanation).splitlines()]


def _is_in_a_library(frame: FrameType) -> bool:
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return package in _LIBRARIES or package == "millrace" or package.startswith("millrace_")


def _show_in_ipython(
    shell: Any, kind: type[BaseException], failure: BaseException, trace: TracebackType, tb_offset: int | None = None
) -> None:
    lines = short_traceback(failure)
    if lines is not None:
        # IPython's own way to let an exception say how it is shown
        failure._render_traceback_ = lambda: lines  # type: ignore[attr-defined] # IPython looks for it
    shell.showtraceback((kind, failure, trace), tb_offset=tb_offset)
