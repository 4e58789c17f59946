"""Guards for uses of PySpark beyond its documentation: these tests fail first when Spark changes."""

from __future__ import annotations

import io
import subprocess
import sys

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql.types import CalendarIntervalType, LongType, StringType, StructField, StructType, TimestampType
from pyspark.util import handle_worker_exception

from millrace.pyspark_internals import (
    from_arrow_schema,
    from_arrow_type,
    hide_worker_traceback,
    state_message_problem,
    to_arrow_schema,
)

SPARKS = StructType([StructField("id", LongType()), StructField("at", TimestampType(), False)])
ARROWS = pa.schema([pa.field("id", pa.int64()), pa.field("at", pa.timestamp("us", "UTC"), False)])


def test_schemas_are_translated_both_ways() -> None:
    assert to_arrow_schema(SPARKS) == ARROWS
    assert from_arrow_schema(ARROWS) == SPARKS
    assert from_arrow_type(pa.string()) == StringType()


def test_a_type_that_arrow_lacks_is_an_error_of_sparks() -> None:
    with pytest.raises(PySparkException):
        to_arrow_schema(StructType([StructField("i", CalendarIntervalType())]))


def test_a_worker_sends_its_stack_unless_told_not_to(monkeypatch: pytest.MonkeyPatch) -> None:
    # Set and deleted, so that what the code under test sets is taken back
    monkeypatch.setenv("SPARK_HIDE_TRACEBACK", "0")
    monkeypatch.delenv("SPARK_HIDE_TRACEBACK")

    def sent() -> bytes:
        stream = io.BytesIO()
        try:
            int("what happened")
        except ValueError as error:
            handle_worker_exception(error, stream)
        return stream.getvalue()

    assert b"Traceback" in sent()
    hide_worker_traceback()
    assert b"Traceback" not in sent()
    assert b"what happened" in sent()


def test_a_missing_protobuf_is_told_before_a_query_starts() -> None:
    program = (
        "import sys; sys.modules['google'] = None\n"
        "from millrace.pyspark_internals import state_message_problem\n"
        "print(state_message_problem())"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.startswith("ModuleNotFoundError: ")
    assert state_message_problem() is None


def test_a_process_without_spark_has_no_java() -> None:
    program = "import sys\nfrom millrace.pyspark_internals import has_jvm\nprint(has_jvm(), 'pyspark' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout == "False False\n"
