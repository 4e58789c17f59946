"""Show failures of millrace on a terminal in short, in any program that imports it.

`install_short_tracebacks` does more, but must be called. This one does what an import may do: it leaves alone a hook
that somebody else has set, output that goes to a file, failures that are not millrace's, and Spark's log.
"""

from __future__ import annotations

import sys
from types import TracebackType


def use_for_millrace() -> None:
    """Let `sys.excepthook` show failures of millrace in short, if it is Python's own."""
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _show


def _show(kind: type[BaseException], failure: BaseException, trace: TracebackType | None) -> None:
    lines = _lines(failure) if sys.stderr is not None and sys.stderr.isatty() else None
    if lines is None:
        sys.__excepthook__(kind, failure, trace)
    else:
        sys.stderr.write("\n".join([*lines, ""]))


def _lines(failure: BaseException) -> list[str] | None:
    if "pyspark" not in sys.modules:
        # No query has failed, and the API that refuses arguments has imported it
        return None
    from millrace.api.tracebacks import short_traceback

    return short_traceback(failure, others=False)
