"""Failures in one sentence, from exceptions and from logs."""

from __future__ import annotations

import sys

import pytest

from millrace import explain_failure
from millrace.errors import OptionsError, UnknownTopicError, UnreachableError
from millrace.failures import explain_log, sentence_of, why_spark_lacks_millrace

OURS = """\
Traceback (most recent call last):
  File "/usr/lib/python3.12/site-packages/pyspark/worker.py", line 1, in main
pyspark.errors.exceptions.captured.AnalysisException: [PYTHON_DATA_SOURCE_ERROR] Failed to generate read partitions: \
millrace.errors.UnknownTopicError: no topic 'order' at broker:9092 (option 'topic'). Did you mean 'orders'?
 SQLSTATE: 38000
"""

SEVERAL_PROBLEMS = """\
org.apache.spark.api.python.PythonException: [PYTHON_EXCEPTION] millrace.errors.OptionsError: wrong source options, 2 \
problems:
  - option 'topic' is required
  - unknown option 'tpic'
 SQLSTATE: 38000
\tat org.apache.spark.errors.Nowhere
"""


def test_an_error_of_millrace_is_found_in_what_spark_makes_of_it() -> None:
    found = explain_failure(OURS)
    assert found is not None
    assert found.error == "millrace.errors.UnknownTopicError"
    assert found.message == "no topic 'order' at broker:9092 (option 'topic'). Did you mean 'orders'?"


def test_each_problem_is_a_line() -> None:
    found = explain_failure(SEVERAL_PROBLEMS)
    assert found is not None
    assert found.message.splitlines()[1:] == ["  - option 'topic' is required", "  - unknown option 'tpic'"]


@pytest.mark.parametrize("error", [UnknownTopicError("no topic 'x'"), OptionsError("source", ("a", "b"))])
def test_an_error_that_was_raised_here_is_its_own_explanation(error: Exception) -> None:
    found = explain_failure(error)
    assert found is not None
    assert found.message == str(error)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("requirement failed: millrace does not support Update mode.", "millrace.upsert_batches"),
        ("[DATA_SOURCE_NOT_FOUND] Failed to find the data source: millrace. Make sure", "set_active_session"),
        ('IOException: Cannot run program "/x/bin/python": error=2, No such file', "no Python /x/bin/python"),
        ("[DATA_SOURCE_NOT_FOUND] Failed to find the data source: kafka. Make sure", ".format('millrace')"),
        ("[JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number.", "install Java 17"),
        ("java.lang.UnsupportedClassVersionError: org/apache/spark/Main", "this Java is too old"),
        ("[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.10", "PYSPARK_PYTHON"),
        ("ModuleNotFoundError: No module named 'millrace_formats'", "lacks the module millrace_formats"),
        (": java.io.IOException: mkdir of file:/data/check failed", "/data/check cannot be written"),
        (": java.io.IOException: Mkdirs failed to create file:/data/x (exists=false)", "/data/x cannot be written"),
        ("[CONCURRENT_STREAM_LOG_UPDATE] Concurrent update to the log.", "two queries use the same checkpoint"),
        ("TimeoutException: Timed out waiting for a node assignment. Call: listTopics", "reached no broker"),
        ("SparkException: Python worker exited unexpectedly (crashed)", "too little memory"),
        ("AnalysisException: Queries with streaming sources must be executed with writeStream.start()", "spark.read "),
        ("SparkException: Python worker failed to connect back.", "PYSPARK_PYTHON"),
        ("java.io.IOException: No space left on device", "a disk is full"),
    ],
)
def test_failures_of_spark_and_java_are_explained(text: str, part: str) -> None:
    found = explain_failure(f"26/11/22 ERROR MicroBatchExecution: Query terminated\n{text}\n\tat org.apache")
    assert found is not None
    assert part in found.message


@pytest.mark.parametrize(
    ("log", "found"),
    [
        (OURS, "no topic 'order' at broker:9092 (option 'topic'). Did you mean 'orders'?"),
        ("ERROR X: [STREAM_FAILED] Query [id = 1]: [TABLE_NOT_FOUND] t. SQLSTATE: 42P01\n", "[TABLE_NOT_FOUND] t."),
        (
            "pyspark.errors.PythonException: \n[PYTHON_EXCEPTION] From the worker: Traceback (most recent call last):\n"
            "  File 'udf.py'\nZeroDivisionError: division by zero\n SQLSTATE: 38000\n",
            "division by zero",
        ),
        ("Traceback (most recent call last):\n  File 'job.py'\nTypeError: give the query\n", "give the query"),
        ("26/11/22 INFO all is well\n", None),
    ],
)
def test_what_a_log_ends_in_is_found(log: str, found: str | None) -> None:
    explanation = explain_log(log)
    assert (explanation and explanation.message) == found


def test_any_other_failure_is_left_as_it_is() -> None:
    assert explain_failure(ValueError("[UNRESOLVED_COLUMN] idd")) is None


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (UnreachableError("no broker answered\nask another one"), "no broker answered\nask another one"),
        (RuntimeError("[STREAM_FAILED] x: millrace.errors.UnreachableError: no broker\n\tat y"), "no broker"),
        (RuntimeError("[PARSE] wrong\n== SQL ==\n"), "[PARSE] wrong"),
        (RuntimeError("\n[PARSE] wrong SQLSTATE: 42601 (line 1, pos 3)\n\n== SQL ==\nid +"), "[PARSE] wrong"),
        (RuntimeError("[PARSE] wrong SQLSTATE: 42601; line 1 pos 0;\n'Project"), "[PARSE] wrong"),
        (RuntimeError("[STREAM_FAILED] Query [id = x] terminated\n: [CAST] no INT\n\tat y"), "[CAST] no INT"),
        (
            RuntimeError("Traceback (most recent call last):\n  File x\nValueError: no\n"),
            "ValueError: no",
        ),
        (
            RuntimeError("calling o1.load.\n: org.x.Outer: failed\nCaused by: java.io.IOException: disk\n"),
            "disk",
        ),
        (RuntimeError(), "RuntimeError"),
    ],
)
def test_an_error_is_one_sentence(error: Exception, sentence: str) -> None:
    assert sentence_of(error) == sentence


def test_an_exception_of_a_callback_is_its_own_sentence() -> None:
    reason = "An exception was raised by the Python Proxy. Return Message: Traceback (most recent call last):"
    frames = '\n  File "a.py", line 1, in fail\nValueError: no such customer\n\n\tat py4j.Protocol\n'
    text = (
        f"org.apache.spark.sql.ForeachBatchUserFuncException: [FOREACH_BATCH_USER_FUNCTION_ERROR] Reason: {reason}"
        f"{frames}Caused by: py4j.Py4JException: {reason}{frames}"
    )
    assert sentence_of(RuntimeError(text)) == "ValueError: no such customer"


REMEDY = f"set the environment variable PYSPARK_PYTHON={sys.executable} before the session starts"


@pytest.mark.parametrize(
    ("variables", "beginning"),
    [
        (None, f"the Python that Spark starts has no data source millrace: {REMEDY}; in a thread"),
        (
            {"PYSPARK_PYTHON": "/opt/no/python"},
            f"Spark starts /opt/no/python, which has no data source millrace: {REMEDY}",
        ),
        ({"PYSPARK_PYTHON": sys.executable}, "Spark has not found the data source millrace: in a thread"),
    ],
)
def test_a_missing_data_source_is_explained_by_the_python_that_spark_starts(variables, beginning) -> None:
    assert why_spark_lacks_millrace(variables).startswith(beginning)
