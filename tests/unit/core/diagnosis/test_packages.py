"""Checks of packages: versions, strangers, and those that PySpark imports."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from millrace.diagnosis import packages
from millrace.diagnosis.executors import check_executors, remedy_for
from millrace.diagnosis.findings import Level

CORE = Path(__file__).parents[4] / "packages" / "core" / "pyproject.toml"


def test_another_project_of_the_same_name_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = {"millrace": "0.0.1", "millrace-core": "0.1.0", "millrace-cli": "0.3.0", "pyspark": "4.2.0"}
    monkeypatch.setattr(packages, "installed_packages", lambda: installed)
    monkeypatch.setattr(packages, "requires", lambda _: None)
    found = [each for each in packages.check_packages() if each.level != Level.OK]
    assert [(each.target, each.level) for each in found] == [
        ("millrace 0.0.1", Level.ERROR),
        ("millrace-cli 0.3.0", Level.WARNING),
    ]
    assert found[0].remedy == "pip uninstall millrace; pip install millrace-kafka"


@pytest.fixture
def without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)


def test_a_package_that_pyspark_cannot_import_is_an_error_that_says_how_to_install_it(without_pandas: None) -> None:
    (found,) = [each for each in packages.check_packages() if each.level != Level.OK]
    assert (found.target, found.level) == ("pandas", Level.ERROR)
    assert found.message.startswith(f"PySpark needs it, and {sys.executable} cannot import it: ")
    assert found.remedy == f"{sys.executable} -m pip install 'pandas>=2.2,<3'"


def test_executors_are_not_blamed_for_a_package_that_the_driver_lacks(without_pandas: None) -> None:
    (found,) = check_executors(None, None, [], {}, None)
    assert (found.check, found.level) == ("executors", Level.WARNING)
    assert found.message == "not checked, since the driver's Python cannot import pandas"


@pytest.mark.parametrize(
    ("module", "package"), [("pandas", "pandas>=2.2,<3"), ("millrace.diagnosis", "millrace-kafka"), ("regex", "regex")]
)
def test_a_package_that_executors_lack_is_named(monkeypatch: pytest.MonkeyPatch, module: str, package: str) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "/opt/python")
    failure = f"Traceback (most recent call last):\nModuleNotFoundError: No module named '{module}'\n"
    assert remedy_for(failure) == f"on each executor's host: /opt/python -m pip install '{package}'"


def test_millrace_core_requires_what_pyspark_imports() -> None:
    required = tomllib.loads(CORE.read_text())["project"]["dependencies"]
    assert set(packages.IMPORTED_BY_SPARK.values()) <= set(required)
