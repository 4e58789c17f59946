"""Start Spark's Java process without the lines that it writes before it knows how much it may log."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from millrace.pyspark_internals import has_jvm
from millrace.worker_tracebacks import hidden_worker_tracebacks

_FILE = Path(__file__).with_name("log4j2.properties")
_STDERR = 2
_LEVEL, _OPTIONS = "spark.log.level", "spark.driver.extraJavaOptions"


def with_error_log(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings with which Spark logs errors only: from its start, if this process is yet to start Java.

    A level, a configuration of Log4j and a structured log of the user's stay as they are.

    Args:
        settings: Settings of the session.
    """
    if has_jvm() or not _FILE.is_file() or _has_own_log(settings):
        return {_LEVEL: "ERROR", **settings}
    options = f"{settings.get(_OPTIONS, '')} -Dlog4j2.configurationFile={_FILE.as_uri()}"
    return {**settings, _OPTIONS: options.strip()}


@contextmanager
def quiet_startup() -> Iterator[None]:
    """Start Java in the ``with`` block; a terminal does not show what it says of itself, nor workers' tracebacks."""
    if has_jvm() or not os.isatty(_STDERR):
        yield
        return
    with hidden_worker_tracebacks():
        yield


def _has_own_log(settings: Mapping[str, str]) -> bool:
    if "log4j" in settings.get(_OPTIONS, "") or settings.get("spark.log.structuredLogging.enabled") == "true":
        return True
    folders = [os.environ.get("SPARK_CONF_DIR"), os.environ.get("SPARK_HOME") and f"{os.environ['SPARK_HOME']}/conf"]
    return any(Path(folder, "log4j2.properties").is_file() for folder in folders if folder)
