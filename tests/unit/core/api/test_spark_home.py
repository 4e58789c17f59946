from __future__ import annotations

import os
from pathlib import Path

import pyspark
import pytest

from millrace.api import spark_home
from millrace.api.spark_home import spark_home_without_archive


@pytest.fixture(autouse=True)
def no_jvm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.setattr(spark_home, "has_jvm", lambda: False)
    monkeypatch.setattr(spark_home, "delete_at_end_of_jvm", lambda paths: False)
    monkeypatch.setattr(spark_home.tempfile, "tempdir", str(tmp_path))


@pytest.mark.parametrize("config", [{}, {"spark.master": "local[4]"}, {"spark.master": "local"}])
def test_spark_starts_from_a_home_without_the_archive(config: dict[str, str], tmp_path: Path) -> None:
    installed = Path(pyspark.__file__).parent
    with spark_home_without_archive(config):
        home = Path(os.environ["SPARK_HOME"])
        assert (home / "jars").resolve() == (installed / "jars").resolve()
        assert (home / "bin" / "spark-submit").is_file()
        assert not (home / "python").exists()
    assert "SPARK_HOME" not in os.environ
    assert not list(tmp_path.iterdir())
    assert (installed / "jars").is_dir()


@pytest.mark.parametrize(
    "config",
    [
        {"spark.master": "spark://host:7077"},
        {"spark.master": "local-cluster[2,1,1024]"},
        {"spark.pyspark.python": "/usr/bin/python3"},
    ],
)
def test_other_executors_and_pythons_keep_the_archive(config: dict[str, str]) -> None:
    with spark_home_without_archive(config):
        assert "SPARK_HOME" not in os.environ


def test_a_home_that_is_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    with spark_home_without_archive({}):
        assert os.environ["SPARK_HOME"] == "/opt/spark"
    assert os.environ["SPARK_HOME"] == "/opt/spark"


def test_a_pyspark_that_workers_would_not_find_keeps_the_archive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_home.site, "getsitepackages", list)
    monkeypatch.setattr(spark_home.site, "getusersitepackages", lambda: "")
    monkeypatch.delenv("PYTHONPATH", raising=False)
    with spark_home_without_archive({}):
        assert "SPARK_HOME" not in os.environ


def test_a_java_process_that_runs_keeps_its_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_home, "has_jvm", lambda: True)
    with spark_home_without_archive({}):
        assert "SPARK_HOME" not in os.environ
