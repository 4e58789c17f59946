"""Checks that the Python that Spark starts has millrace."""

from __future__ import annotations

import sys
import venv
from pathlib import Path

import pytest

from millrace.diagnosis.findings import Level
from millrace.diagnosis.spark_python import check_spark_python


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment without millrace."""
    folder = tmp_path_factory.mktemp("other")
    venv.create(folder, symlinks=True)
    return folder / "bin"


@pytest.fixture(autouse=True)
def no_python_path(monkeypatch: pytest.MonkeyPatch) -> None:
    # Another Python would find millrace there, too
    monkeypatch.delenv("PYTHONPATH", raising=False)


def test_this_python_is_sound() -> None:
    found = check_spark_python({"PYSPARK_PYTHON": sys.executable})
    assert (found.level, found.target) == (Level.OK, f"PYSPARK_PYTHON={sys.executable}")


@pytest.mark.parametrize("variable", ["PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"])
def test_another_one_that_is_named_is_an_error(other: Path, variable: str) -> None:
    found = check_spark_python({variable: str(other / "python")})
    assert (found.level, found.target) == (Level.ERROR, f"{variable}={other / 'python'}")
    assert found.message == "Spark starts this Python, and it has no millrace"
    assert found.remedy == f"export {variable}={sys.executable}"


def test_the_one_on_the_path_is_a_warning_since_programs_that_import_millrace_run(
    other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(other))
    found = check_spark_python({})
    assert (found.level, found.target) == (Level.WARNING, f"python3 ({other / 'python3'})")
    assert "in programs that do not import millrace" in found.message
    assert found.remedy == f"export PYSPARK_PYTHON={sys.executable}, or activate its environment"


def test_with_an_installed_spark_the_one_on_the_path_is_an_error(other: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(other))
    assert check_spark_python({"SPARK_HOME": "/opt/spark"}).level == Level.ERROR


def test_another_one_that_has_millrace_is_sound(other: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pyspark_millrace.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert check_spark_python({"PYSPARK_PYTHON": str(other / "python")}).level == Level.OK


def test_one_that_does_not_run_is_an_error(tmp_path: Path) -> None:
    found = check_spark_python({"PYSPARK_PYTHON": str(tmp_path / "python")})
    assert found.level == Level.ERROR
    assert "it does not run" in found.message
