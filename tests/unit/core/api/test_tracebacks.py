"""Failures of queries that nothing catches, as they appear in a terminal."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from millrace.api.tracebacks import FULL_TRACEBACKS, short_traceback
from millrace.errors import UnknownTopicError

PROGRAM = """\
import json

from millrace import install_short_tracebacks
from pyspark.errors import StreamingQueryException

install_short_tracebacks()
install_short_tracebacks()


def run():
    FAILURE


run()
"""
STREAM_FAILED = (
    "[STREAM_FAILED] Query [id = 1] terminated with exception: millrace.errors.ClientError: it is gone\\n"
    " SQLSTATE: 38000\\n=== Streaming Query ===\\nCurrent State: ACTIVE\\nLogical Plan:\\nWriteToMicroBatchDataSource"
)


def run(folder: Path, failure: str, **environment: str) -> list[str]:
    """The lines on standard error of a program that fails."""
    program = folder / "job.py"
    program.write_text(PROGRAM.replace("FAILURE", failure))
    variables = {"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin", **environment}
    ended = subprocess.run([sys.executable, program], env=variables, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    return ended.stderr.splitlines()


def test_a_failed_query_is_a_line_of_the_program_and_a_sentence(tmp_path: Path) -> None:
    failure = f'raise StreamingQueryException("{STREAM_FAILED}")'
    assert run(tmp_path, failure) == [
        f'  File "{tmp_path}/job.py", line 11, in run',
        f"    {failure}",
        "millrace.errors.ClientError: it is gone",
    ]
    assert len(run(tmp_path, failure, **{FULL_TRACEBACKS: "1"})) > 8


def test_any_other_failure_is_shown_as_python_does(tmp_path: Path) -> None:
    lines = run(tmp_path, "json.loads('{')")
    assert lines[0] == "Traceback (most recent call last):"
    assert any("decoder.py" in line for line in lines)


def test_frames_of_libraries_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FULL_TRACEBACKS, raising=False)
    library = {"__name__": "pyspark.sql.readwriter", "UnknownTopicError": UnknownTopicError}
    exec("def load():\n    raise UnknownTopicError(\"no topic 'x'\")", library)  # a module of PySpark's
    with pytest.raises(UnknownTopicError) as raised:
        library["load"]()
    lines = short_traceback(raised.value)
    assert lines is not None
    assert "test_tracebacks.py" in lines[0]
    assert [line.strip() for line in lines[1:]] == [
        'library["load"]()',
        "millrace.errors.UnknownTopicError: no topic 'x'",
    ]
