"""One sentence for an error, whatever Spark has put around it."""

from __future__ import annotations

import re

from millrace.errors import MillraceError

_OURS = re.compile(r"\bmillrace[\w.]*\.\w+Error: (.+)")
"""An error of millrace in the text that Spark makes of what a Python worker raised."""


def sentence_of(error: BaseException) -> str:
    """Return the message of an error of millrace, also of one within an error of Spark, else the first line of it."""
    if isinstance(error, MillraceError):
        return str(error)
    text = str(error)
    found = _OURS.search(text)
    return found[1] if found else text.partition("\n")[0] or type(error).__name__
