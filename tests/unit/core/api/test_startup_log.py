"""The settings with which Spark logs errors only, from its start."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
from millrace.api.startup_log import with_error_log
print(with_error_log(eval(sys.argv[1])))
"""
OPTIONS = "spark.driver.extraJavaOptions"


def settings_of_a_new_process(settings: dict[str, str], **environment: str) -> dict[str, str]:
    import os

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, repr(settings)],
        env={name: value for name, value in os.environ.items() if name != "SPARK_HOME"} | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return eval(done.stdout)  # what the program above has printed


def test_log4j_is_configured_before_java_starts() -> None:
    settings = settings_of_a_new_process({OPTIONS: "-Xmx1g"})
    assert settings[OPTIONS].startswith("-Xmx1g -Dlog4j2.configurationFile=file:///")
    # Spark would say that it sets the level
    assert "spark.log.level" not in settings


def test_a_level_of_the_user_stays() -> None:
    assert settings_of_a_new_process({"spark.log.level": "INFO"})["spark.log.level"] == "INFO"


@pytest.mark.parametrize(
    "own",
    [{OPTIONS: "-Dlog4j2.configurationFile=file:///etc/log4j2.xml"}, {"spark.log.structuredLogging.enabled": "true"}],
)
def test_a_configuration_of_the_user_stays(own: dict[str, str]) -> None:
    assert settings_of_a_new_process(own) == {"spark.log.level": "ERROR", **own}


def test_a_configuration_of_a_folder_stays(tmp_path) -> None:
    (tmp_path / "log4j2.properties").touch()
    assert settings_of_a_new_process({}, SPARK_CONF_DIR=str(tmp_path)) == {"spark.log.level": "ERROR"}
