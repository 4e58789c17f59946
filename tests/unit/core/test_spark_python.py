"""The Python that Spark starts in a program that imports millrace."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from millrace.spark_python import is_this_python

PROGRAM = "import json, os, millrace; print(json.dumps([os.environ.get(f'PYSPARK_{name}') for name in NAMES]))"
NAMES = ("DRIVER_PYTHON", "PYTHON")


def chosen(folder: Path, **environment: str) -> list[str | None]:
    """Import millrace where the variables and a folder of the ``PATH`` are given, and return the Pythons of Spark."""
    variables = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": str(folder), **environment}
    program = PROGRAM.replace("NAMES", repr(NAMES))
    ended = subprocess.run([sys.executable, "-c", program], env=variables, capture_output=True, text=True, check=True)
    return json.loads(ended.stdout)


@pytest.fixture
def another(tmp_path: Path) -> Path:
    """A folder with another ``python3``."""
    program = tmp_path / "python3"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return tmp_path


def test_it_is_the_programs_own_where_another_one_is_on_the_path(another: Path) -> None:
    assert chosen(another) == [sys.executable, sys.executable]


def test_it_is_the_programs_own_where_none_is_on_the_path(tmp_path: Path) -> None:
    assert chosen(tmp_path) == [sys.executable, sys.executable]


def test_nothing_is_set_where_the_environment_is_activated(tmp_path: Path) -> None:
    # The folder of this Python, with the name that Spark starts
    assert Path(sys.executable).with_name("python3").exists()
    assert chosen(Path(sys.executable).parent) == [None, None]


@pytest.mark.parametrize(
    "variable",
    [
        "HADOOP_CONF_DIR",
        "PYSPARK_GATEWAY_PORT",
        "PYTHON_WORKER_FACTORY_PORT",
        "PYTHON_WORKER_FACTORY_SOCK_DIR",
        "SPARK_CONF_DIR",
        "SPARK_HOME",
        "YARN_CONF_DIR",
    ],
)
def test_nothing_is_set_by_spark_submit_an_installed_spark_and_workers(another: Path, variable: str) -> None:
    assert chosen(another, **{variable: "1"}) == [None, None]


def test_a_choice_of_the_user_is_kept(another: Path) -> None:
    assert chosen(another, PYSPARK_PYTHON="./environment/bin/python") == [None, "./environment/bin/python"]
    assert chosen(another, PYSPARK_DRIVER_PYTHON="ipython") == ["ipython", None]


def test_environments_that_link_to_the_same_file_are_two(tmp_path: Path) -> None:
    (tmp_path / "python3").symlink_to(Path(sys.executable).resolve())
    assert is_this_python(sys.executable)
    assert not is_this_python(str(tmp_path / "python3"))
    assert not is_this_python("no-such-python")
