"""Failures in a terminal of a program that imports millrace, and has called nothing else of it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """\
import sys
FIRST
import millrace
from millrace.errors import UnknownTopicError
from pyspark.errors import AnalysisException


def run():
    raise FAILURE


run()
"""
OURS = "AnalysisException('[PYTHON_DATA_SOURCE_ERROR] it failed: millrace.errors.ClientError: it is gone')"


def run(folder: Path, failure: str, first: str = "", *, is_terminal: bool = True, **environment: str) -> list[str]:
    """The lines on standard error of a program that fails."""
    program = folder / "job.py"
    program.write_text(PROGRAM.replace("FAILURE", failure).replace("FIRST", first))
    variables = {"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin", **environment}
    screen, of_program = pty.openpty()
    written = folder / "stderr"
    with written.open("wb") as file:
        errors = of_program if is_terminal else file.fileno()
        ended = subprocess.run([sys.executable, program], env=variables, stderr=errors, check=False)
    os.close(of_program)
    shown = os.read(screen, 65536) if is_terminal else written.read_bytes()
    os.close(screen)
    assert ended.returncode == 1
    return shown.decode().splitlines()


@pytest.mark.parametrize("failure", [OURS, "UnknownTopicError('it is gone')"])
def test_a_failure_of_millrace_is_short(tmp_path: Path, failure: str) -> None:
    lines = run(tmp_path, failure)
    assert lines[:2] == [f'  File "{tmp_path}/job.py", line 9, in run', f"    raise {failure}"]
    assert [line.endswith("Error: it is gone") for line in lines[2:]] == [True]


@pytest.mark.parametrize(
    ("failure", "first", "is_terminal", "environment"),
    [
        (OURS, "", False, {}),
        (OURS, "", True, {"MILLRACE_FULL_TRACEBACKS": "1"}),
        (OURS, "sys.excepthook = lambda *failure: sys.__excepthook__(*failure)", True, {}),
        ("AnalysisException('[UNRESOLVED_COLUMN] idd')", "", True, {}),
        ("OSError('No space left on device')", "", True, {}),
    ],
    ids=["to a file", "full tracebacks", "a hook of the program", "of Spark", "of Python"],
)
def test_others_are_shown_as_python_does(
    tmp_path: Path, failure: str, first: str, is_terminal: bool, environment: dict[str, str]
) -> None:
    lines = run(tmp_path, failure, first, is_terminal=is_terminal, **environment)
    assert lines[0] == "Traceback (most recent call last):"
    assert len(lines) >= 6
