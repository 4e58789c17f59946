"""Flink, to compare with: PyFlink in an environment of its own, since its dependencies exclude those of the tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from millrace_broker.folders import cache_folder, exclusive_lock
from support.environments import run_uv
from support.maven import jar_of

VERSION = "2.3.0"
KAFKA_CONNECTOR = "org.apache.flink:flink-sql-connector-kafka:5.0.0-2.2"
PROGRAM = Path(__file__).parents[1] / "programs" / "flink_sql.py"


class FlinkError(Exception):
    """Flink refuses a query, or fails while it runs."""


@dataclass
class Flink:
    """A running Flink, which answers one query after the other.

    Attributes:
        process: The program.
    """

    process: subprocess.Popen[str]

    def rows(self, setup: Sequence[str], query: str) -> list[Any]:
        """Return the rows that the changes of a query leave, with values as the program writes them.

        Args:
            setup: The statements before it.
            query: The query, over bounded tables.

        Raises:
            FlinkError: Flink refuses it, or fails.
        """
        requests, answers = self._pipes
        requests.write(json.dumps({"setup": list(setup), "query": query}) + "\n")
        requests.flush()
        line = answers.readline()
        assert line, "Flink has ended: its errors are above"
        answer = json.loads(line)
        if "error" in answer:
            raise FlinkError(answer["error"])
        rows: list[Any] = answer["rows"]
        return rows

    @property
    def _pipes(self) -> tuple[IO[str], IO[str]]:
        assert self.process.stdin
        assert self.process.stdout
        return self.process.stdin, self.process.stdout


@contextmanager
def flink() -> Iterator[Flink]:
    """Start Flink; it ends with the block."""
    command = [str(_environment() / "bin" / "python"), str(PROGRAM), *map(str, jar_of(KAFKA_CONNECTOR))]
    # The tests' own packages and Python's path are not Flink's
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYSPARK", "SPARK"))
    }
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables) as process:
        # It ends, and with it its Java, when there is nothing more to read
        yield Flink(process)


def _environment() -> Path:
    folder = cache_folder() / "tests" / f"flink-{VERSION}"
    with exclusive_lock(folder.parent / f"{folder.name}.lock"):
        if not (folder / "complete").exists():
            run_uv("venv", "--quiet", "--clear", "--python", sys.executable, folder)
            run_uv("pip", "install", "--quiet", "--python", folder / "bin" / "python", f"apache-flink=={VERSION}")
            (folder / "complete").touch()
    return folder
