"""One sentence for an error, whatever Spark has put around it."""

from __future__ import annotations

import re

from millrace import explain_failure
from millrace_sql.errors import reason_of

_CONDITION = re.compile(r"\[(?P<condition>[A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\] [^\n]+")
"""An error of Spark: its condition, and its message."""

_WRAPPERS = ("FOREACH_BATCH_USER_FUNCTION_ERROR", "PYTHON_STREAMING_DATA_SOURCE_RUNTIME_ERROR", "STREAM_FAILED")
"""Conditions that only say that something else has failed."""

_OF_PYTHON = re.compile(r"^(?:[\w.]+\.)?\w*(?:Error|Exception): .+", re.MULTILINE)
_OF_JAVA = re.compile(r"(?:^|Caused by: |: )(?:[a-z]\w*\.)+\w*(?:Error|Exception): (?P<message>[^\n]+)", re.MULTILINE)


def sentence_of(error: BaseException) -> str:
    """Return the message of the first cause that an error names: of millrace, of Spark, of Python or of Java."""
    explanation = explain_failure(error)
    if explanation is not None:
        return explanation.message
    text = str(error)
    for found in _CONDITION.finditer(text):
        if found["condition"] not in _WRAPPERS:
            return reason_of(RuntimeError(found[0]))
    if "\n" in text and (causes := [*_OF_JAVA.finditer(text)]):
        return causes[-1]["message"]
    if "Traceback" in text and (raised := _OF_PYTHON.findall(text)):
        return str(raised[-1])
    return reason_of(error)
