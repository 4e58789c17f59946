"""The tutorial of Spark Declarative Pipelines runs as it stands: its files, its program and its commands."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from support.admin import delete_topics

# Each run of the command starts Spark, with a Python process for each flow, on a machine that other tests keep busy
pytestmark = [pytest.mark.nightly, pytest.mark.timeout(900)]

PAGE = Path(__file__).parents[2] / "docs/declarative-pipelines.md"
SECTIONS = PAGE.read_text().split("\n## ")[1:]
"""Kafka, declarations, a run, another run, and AUTO CDC."""

TOPICS = ("order-changes", "latest-orders")


class Reader:
    """A reader of the page, who saves its files, runs its program and starts `spark-pipelines` in one folder.

    Args:
        folder: The folder, which is the working directory.
        servers: The brokers, in the place of the page's.
    """

    def __init__(self, folder: Path, servers: str) -> None:
        self._replacements = {"localhost:9092": servers, "file:///home/me/shop": folder.as_uri()}
        self._names: dict[str, Any] = {"__name__": "__main__"}

    def follow(self, *sections: str) -> None:
        """Do what parts of the page say, block by block."""
        text = "\n".join(sections)
        for before, after in self._replacements.items():
            text = text.replace(before, after)
        for language, block in re.findall(r"^```(\w+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            file = re.match(r"# (\S+\.\w+)\n", block)
            if file:
                Path(file[1]).parent.mkdir(exist_ok=True)
                Path(file[1]).write_text(block)
            elif language == "python":
                exec(compile(block, PAGE.name, "exec", dont_inherit=True), self._names)
            elif language == "console":
                for command in re.findall(r"^\$ (spark-pipelines .*)$", block, re.MULTILINE):
                    done = spark_pipelines(*shlex.split(command)[1:])
                    assert done.returncode == 0, done.stdout

    def close(self) -> None:
        """Let go of the program's client of Kafka, whose broker may end before this process."""
        self._names.clear()


def spark_pipelines(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command of the PySpark that is installed, by this Python."""
    program = Path(sys.executable).with_name("spark-pipelines")
    variables = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    return subprocess.run(
        [program, *arguments], env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )


@pytest.fixture
def reader(broker, spark_home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for topic in TOPICS:
        broker.create_topic(topic, 1)
    with closing(Reader(tmp_path, broker.bootstrap_servers)) as started:
        yield started
    delete_topics(broker.bootstrap_servers, TOPICS)


def test_the_tutorial_runs(reader):
    reader.follow(*SECTIONS[:4])


def test_auto_cdc_is_rejected_with_the_error_of_the_page(reader):
    declaration, auto_cdc = SECTIONS[1], SECTIONS[4]
    reader.follow(declaration, auto_cdc)
    (error,) = re.findall(r"^\[AUTOCDC_.*$", auto_cdc, re.MULTILINE)
    assert error in spark_pipelines("run").stdout
