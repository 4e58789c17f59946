"""Explain failures of queries in one sentence: what Spark puts around an error of millrace, and Spark's own errors."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from typing import NamedTuple

from pyspark.errors import AnalysisException

from millrace.errors import MillraceError
from millrace.pyspark_internals import jvm_variables
from millrace.spark_python import DRIVER_PYTHON, WORKER_PYTHON, find_program, is_this_python, planner_python


class Explanation(NamedTuple):
    """The cause of a failure.

    Attributes:
        error: The name of millrace's error, such as ``millrace.errors.UnknownTopicError``, else ``Spark``.
        message: What went wrong, and what to do about it: one sentence, or one line for each problem.
    """

    error: str
    message: str

    def __str__(self) -> str:
        return f"{self.error}: {self.message}"


_OURS = re.compile(r"\b(millrace[\w.]*\.\w+Error): (.+(?:\n  - .+)*)")
"""An error of millrace in what Spark makes of it; several problems of options are a line each."""


_NOT_OURS = "Spark"

_CONDITION = re.compile(r"\[(?P<condition>[A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)*)\] [^\n]+")
"""An error of Spark: its condition, and its message."""

_WRAPPERS = ("FOREACH_BATCH_USER_FUNCTION_ERROR", "PYTHON_STREAMING_DATA_SOURCE_RUNTIME_ERROR", "STREAM_FAILED")
"""Conditions that only say that something else has failed."""

_FRAMES = "Traceback (most recent call last):"

_OF_PYTHON = re.compile(r"^(?:[\w.]+\.)?\w*(?:Error|Exception): .+", re.MULTILINE)
_OF_JAVA = re.compile(r"(?:^|Caused by: |: )(?:[a-z]\w*\.)+\w*(?:Error|Exception): (?P<message>[^\n]+)", re.MULTILINE)

_TRACEBACK = "Traceback (most recent call last):"

_PLACE_IN_QUERY = re.compile(r"\s*SQLSTATE: \w{5}(?:; line \d+ pos \d+| ?\(line \d+, pos \d+\))?;?\s*$")
"""The end of a message of Spark, whose place is one in a query that only Spark has seen."""


class _SparkFailure(NamedTuple):
    pattern: re.Pattern[str]
    message: str | Callable[[], str]

    def explain(self, match: re.Match[str]) -> str:
        return self.message.format(**match.groupdict()) if isinstance(self.message, str) else self.message()


def _failure(pattern: str, message: str | Callable[[], str]) -> _SparkFailure:
    return _SparkFailure(re.compile(pattern), message)


def why_spark_lacks_millrace(variables: Mapping[str, str] | None) -> str:
    """Explain why Spark has not found the data source.

    Args:
        variables: The variables of Spark's Java process that name its Python; None where this process has none.
    """
    remedy = f"set the environment variable PYSPARK_PYTHON={sys.executable} before the session starts"
    activate = "in a thread that you have started, call millrace.set_active_session(spark) first"
    if variables is None:
        return f"the Python that Spark starts has no data source millrace: {remedy}; {activate}"
    python = planner_python(variables)
    if is_this_python(python):
        return f"Spark has not found the data source millrace: {activate}; if millrace is new, restart the session"
    return f"Spark starts {find_program(python) or python}, which has no data source millrace: {remedy}"


_EXPLAINED = (
    _failure(
        r"millrace does not support Update mode",
        "millrace takes no rows in update mode: write them in .foreachBatch(millrace.upsert_batches(options)), which "
        "keeps the latest row of each key, or use .outputMode('append') or 'complete'",
    ),
    _failure(
        r"DATA_SOURCE_NOT_FOUND\][^\n]*\bmillrace\b",
        lambda: why_spark_lacks_millrace(jvm_variables((DRIVER_PYTHON, WORKER_PYTHON))),
    ),
    _failure(
        r"(?:DATA_SOURCE_NOT_FOUND\]|Failed to find data source:)[^\n]*\bkafka\b",
        "Spark's own Kafka connector is not installed; use .format('millrace'), which takes its options, too",
    ),
    _failure(
        r"DATA_SOURCE_NOT_FOUND\] Failed to find the data source: (?P<name>[\w.]*\w)",
        "Spark has no data source {name}: check the name in .format(...); that of this package is 'millrace'",
    ),
    _failure(
        r"not supported for streaming aggregations without watermark",
        "counts and sums of a stream keep changing, so they cannot be appended: add .withWatermark(...) to "
        "append the final ones, write all of them with .outputMode('complete'), or the changed ones in "
        ".outputMode('update').foreachBatch(millrace.upsert_batches(options))",
    ),
    _failure(
        r"Queries with streaming sources must be executed with writeStream\.start\(\)",
        "a stream has no end, so that it is not counted, shown or collected: start it by .writeStream.start(), or "
        "read what is there with spark.read instead of spark.readStream",
    ),
    _failure(
        r"DATA_SOURCE_PUSHDOWN_DISABLED",
        "option 'scan.filter-pushdown' requires a setting of the session: "
        "spark.conf.set('spark.sql.python.filterPushdown.enabled', 'true')",
    ),
    _failure(
        r"UNSUPPORTED_DATA_SOURCE_SAVE_MODE\][^\n]*\bmillrace\b",
        "millrace appends to topics and does nothing else: write with .mode('append')",
    ),
    _failure(
        r"JAVA_GATEWAY_EXITED|Java gateway process exited",
        "Java could not be started: install Java 17 or 21, and let JAVA_HOME name its folder",
    ),
    _failure(
        r"UnsupportedClassVersionError",
        "this Java is too old for Spark: install Java 17 or 21, and let JAVA_HOME name its folder",
    ),
    _failure(
        r"PYTHON_VERSION_MISMATCH|Python in worker has different version",
        "driver and executors run different versions of Python: let PYSPARK_PYTHON name the same one for both",
    ),
    _failure(
        r"Cannot run program \"(?P<program>[^\"]*python[^\"]*)\"",
        "a host of Spark has no Python {program}: let the environment variable PYSPARK_PYTHON name one that the driver "
        "and all executors have",
    ),
    _failure(
        r"No module named '(?P<module>(?:pyspark_)?millrace\w*)'",
        "the Python of the executors lacks the module {module}: install the same packages there as for the driver",
    ),
    _failure(
        r"(?:mkdir of|Mkdirs failed to create|AccessDeniedException:|Permission denied:?) (?:file:)?(?P<path>/\S+)",
        "{path} cannot be written: let 'checkpointLocation', or the path of the sink, name a folder in which this user "
        "may write",
    ),
    _failure(
        r"CONCURRENT_STREAM_LOG_UPDATE|Multiple streaming (?:jobs|queries) (?:detected|are concurrently using)",
        "two queries use the same checkpoint: stop one, or give each its own 'checkpointLocation'",
    ),
    _failure(
        r"Timed out waiting for a node assignment",
        "Kafka's Java client reached no broker: check address and port of the bootstrap servers, and that "
        "security.protocol fits the listener; it waits in the same way where a broker wants TLS or a login",
    ),
    _failure(
        r"Python worker failed to connect back",
        "Spark waits 10 s for a Python worker to start, and none did: this host is too busy, or the Python that "
        "PYSPARK_PYTHON names does not run; check that it does, and give the host fewer tasks at once by spark.master "
        "or spark.executor.cores",
    ),
    _failure(
        r"Python worker exited unexpectedly",
        "a Python worker has died, mostly because the host or the container had too little memory: give executors more "
        "by spark.executor.memoryOverhead, or read less at once by 'scan.max-records-per-batch'",
    ),
    _failure(r"No space left on device", "a disk is full on this host or on an executor's: make room and start again"),
)
"""Failures that are not millrace's own; the first match counts."""


def explain_failure(failure: BaseException | str) -> Explanation | None:
    """Find the cause of a failure in an exception, or in text such as a log.

    Args:
        failure: An exception of Spark or millrace, or a text.

    Returns:
        The first millrace error that it contains, or else a Spark failure that is explained here. None for any other
        failure.
    """
    if isinstance(failure, MillraceError):
        return Explanation(f"{type(failure).__module__}.{type(failure).__qualname__}", str(failure))
    text = str(failure)
    own = _OURS.search(text)
    if own:
        return Explanation(own[1], own[2])
    for explained in _EXPLAINED:
        match = explained.pattern.search(text)
        if match:
            return Explanation(_NOT_OURS, explained.explain(match))
    return None


def explain_log(text: str) -> Explanation | None:
    """Find what went wrong in a log, such as the output of a program in a terminal.

    Returns:
        The first error of millrace or explained failure of Spark, else Spark's first error with a condition, else the
        exception of Python that ended the program; None where there is no failure.
    """
    explanation = explain_failure(text)
    if explanation is not None:
        return explanation
    condition = _condition_in(text)
    if condition is not None and not condition.endswith(_FRAMES):
        return Explanation(_NOT_OURS, _reason_in(condition).rstrip(";"))
    raised = [line for line in _OF_PYTHON.findall(text) if not line.startswith("pyspark.")] or _OF_PYTHON.findall(text)
    if not raised:
        return None
    name, _, message = raised[-1].partition(": ")
    return Explanation(name, message)


def explain_condition(failure: BaseException) -> Explanation | None:
    """Find the first condition of Spark in an exception that says what is wrong, such as ``UNRESOLVED_COLUMN``.

    Returns:
        Its message without plan and frames; None without a condition, and for a failure of a user's function in
        Python, whose frames tell where it failed.
    """
    text = str(failure)
    if _FRAMES in text:
        return None
    condition = _condition_in(text)
    if condition is None and not isinstance(failure, AnalysisException):
        return None
    return Explanation(_NOT_OURS, (_reason_in(condition) if condition else reason_of(failure)).rstrip(";"))


def sentence_of(failure: BaseException) -> str:
    """Return the message of the first cause that a failure names: of millrace, of Spark, of Python or of Java."""
    explanation = explain_failure(failure)
    if explanation is not None:
        return explanation.message
    text = str(failure)
    condition = _condition_in(text)
    if condition is not None:
        return _reason_in(condition)
    causes = [*_OF_JAVA.finditer(text)] if "\n" in text else []
    # Java's cause of what Python's callback raises is the traceback
    if causes and not causes[-1]["message"].endswith(_TRACEBACK):
        return causes[-1]["message"]
    if "Traceback" in text and (raised := _OF_PYTHON.findall(text)):
        return str(raised[-1])
    return reason_of(failure)


def reason_of(failure: BaseException) -> str:
    """Return what a failure of Spark says, without the frames and the plan that follow it."""
    return _reason_in(str(failure)) or type(failure).__name__


def _condition_in(text: str) -> str | None:
    """Return the first condition that says what is wrong, and its message; it may follow a wrapper in the same line."""
    at = 0
    while match := _CONDITION.search(text, at):
        if match["condition"] not in _WRAPPERS:
            return match[0]
        at = match.end("condition")
    return None


def _reason_in(text: str) -> str:
    # Spark's errors of parsing begin with a line break
    line, _, rest = text.lstrip().partition("\n")
    if line.startswith("An error occurred while calling "):
        # Py4J's; the line after it is Java's own
        line = rest.partition("\n")[0].removeprefix(": ")
    return _PLACE_IN_QUERY.sub("", line).rstrip()
