"""Flink, to compare with: PyFlink in an environment of its own, since its dependencies exclude those of the tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from millrace_broker.folders import cache_folder, exclusive_lock
from support.environments import run_uv
from support.maven import jar_of

VERSION = "2.3.0"
KAFKA_CONNECTOR = "org.apache.flink:flink-sql-connector-kafka:5.0.0-2.2"
PROGRAM = Path(__file__).parents[1] / "programs" / "flink_sql.py"

QUERIES_OF_A_PROCESS = 75
"""Each query leaves a hundred megabytes and more in Java, none of which it gives back."""


class FlinkError(Exception):
    """Flink refuses a query, or fails while it runs."""


class Flink:
    """Flink, which answers one query after the other, and starts with the first one."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._asked = 0

    def rows(self, setup: Sequence[str], query: str) -> list[Any]:
        """Return the rows that the changes of a query leave, with values as the program writes them.

        Args:
            setup: The statements before it.
            query: The query, over bounded tables.

        Raises:
            FlinkError: Flink refuses it, or fails.
        """
        requests, answers = self._pipes()
        try:
            requests.write(json.dumps({"setup": list(setup), "query": query}) + "\n")
            requests.flush()
            line = answers.readline()
        except BaseException:
            # The next query would be given the answer that this one did not wait for
            self._kill()
            raise
        assert line, "Flink has ended: its errors are above"
        answer = json.loads(line)
        if "error" in answer:
            raise FlinkError(answer["error"])
        rows: list[Any] = answer["rows"]
        return rows

    def close(self) -> None:
        """End the program, and with it its Java."""
        if self._process is not None:
            # Its input ends, so that there is nothing more to read
            with self._process:
                self._process = None

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self.close()
        self._asked = 0

    def _pipes(self) -> tuple[IO[str], IO[str]]:
        if self._asked % QUERIES_OF_A_PROCESS == 0:
            self.close()
        self._asked += 1
        self._process = self._process or _start()
        assert self._process.stdin
        assert self._process.stdout
        return self._process.stdin, self._process.stdout


def _start() -> subprocess.Popen[str]:
    command = [str(_environment() / "bin" / "python"), str(PROGRAM), *map(str, jar_of(KAFKA_CONNECTOR))]
    # The tests' own packages and Python's path are not Flink's
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYSPARK", "SPARK"))
    }
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables)


def _environment() -> Path:
    folder = cache_folder() / "tests" / f"flink-{VERSION}"
    with exclusive_lock(folder.parent / f"{folder.name}.lock"):
        if not (folder / "complete").exists():
            run_uv("venv", "--quiet", "--clear", "--python", sys.executable, folder)
            run_uv("pip", "install", "--quiet", "--python", folder / "bin" / "python", f"apache-flink=={VERSION}")
            (folder / "complete").touch()
    return folder
