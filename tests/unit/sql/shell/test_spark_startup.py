"""Start-up output of Spark that is held back."""

import os
import subprocess
import sys

import pytest
from pyspark.errors import PySparkRuntimeError

from millrace.errors import MachineError
from millrace_sql.shell.spark_startup import startup_output_held_back


def test_what_a_process_writes_while_it_starts_is_dropped(capfd):
    with startup_output_held_back():
        os.write(2, b"WARN noise\n")
    os.write(2, b"later\n")
    assert capfd.readouterr().err == "later\n"


def test_what_is_written_at_the_end_is_dropped():
    program = """
import os, subprocess, sys
from millrace_sql.shell.spark_startup import startup_output_held_back
child = "import sys\\nfor line in sys.stdin: print(line, end='', file=sys.stderr, flush=True); print(line, flush=True)"
with startup_output_held_back() as drop:
    process = subprocess.Popen([sys.executable, "-c", child], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def tell(text):
    process.stdin.write(text); process.stdin.flush(); process.stdout.readline(); process.stdout.readline()
tell("shown\\n")
sys.stdin.readline()
drop()
tell("dropped\\n")
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr.readline() == "shown\n"
        process.stdin.write("\n")
        process.stdin.close()
        assert process.stderr.read() == ""


def start(written, error):
    with startup_output_held_back():
        os.write(2, written)
        raise error


def test_a_failure_of_spark_is_one_sentence_with_its_reason(capfd):
    written = b'noise\nException in thread "main" org.apache.spark.SparkException: Master must be yarn\n\tat x\n'
    with pytest.raises(MachineError, match=r"^Spark does not start: Master must be yarn$"):
        start(written, PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={}))
    assert capfd.readouterr().err == ""


def test_any_other_failure_shows_what_was_written(capfd):
    with pytest.raises(ValueError, match="wrong"):
        start(b"a warning\n", ValueError("wrong"))
    assert capfd.readouterr().err == "a warning\n"
