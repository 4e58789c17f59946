"""The Python that Spark starts: which one it is, and this one where nobody has chosen.

Spark's Java process plans data sources, and runs their tasks, with the Python that its environment names in
``PYSPARK_DRIVER_PYTHON``, else in ``PYSPARK_PYTHON``, else with ``python3`` of the ``PATH``; functions of a program run
with ``PYSPARK_PYTHON``, else with ``python3``. The setting ``spark.pyspark.python`` is read by ``spark-submit`` alone.
So if an environment is not activated, Spark starts another Python than ``.venv/bin/python job.py``, without millrace.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

DRIVER_PYTHON, WORKER_PYTHON = "PYSPARK_DRIVER_PYTHON", "PYSPARK_PYTHON"
DEFAULT_PYTHON = "python3"

_CHOSEN_ELSEWHERE = (
    DRIVER_PYTHON,
    WORKER_PYTHON,
    # Set by spark-submit, whose Java process runs already
    "PYSPARK_GATEWAY_PORT",
    # Their spark-env.sh and defaults belong to whoever has installed Spark, mostly for a cluster
    "SPARK_HOME",
    "SPARK_CONF_DIR",
    "HADOOP_CONF_DIR",
    "YARN_CONF_DIR",
)

_OF_WORKERS = "PYTHON_WORKER_FACTORY_"

_AT_IMPORT = {name: os.environ[name] for name in (DRIVER_PYTHON, WORKER_PYTHON) if name in os.environ}


def use_this_python() -> None:
    """Let Spark start this process's Python; only before Spark's Java process starts, which takes its environment."""
    os.environ[DRIVER_PYTHON] = os.environ[WORKER_PYTHON] = sys.executable


def use_this_python_by_default() -> None:
    """Let Spark start this process's Python where it would start another one that nobody has chosen.

    It does nothing in a worker of Spark, or when a Java process of Spark runs already.
    """
    if import_chooses_python(os.environ) and not is_this_python(DEFAULT_PYTHON) and not _jvm_is_running():
        use_this_python()


def names_python(environment: Mapping[str, str]) -> bool:
    """Return whether an environment names Spark's Python."""
    return DRIVER_PYTHON in environment or WORKER_PYTHON in environment


def import_chooses_python(environment: Mapping[str, str]) -> bool:
    """Return whether ``import millrace`` may choose Spark's Python, as the environment names no choice."""
    is_chosen = any(name in environment for name in _CHOSEN_ELSEWHERE)
    return bool(sys.executable) and not is_chosen and not any(name.startswith(_OF_WORKERS) for name in environment)


def environment_at_import() -> dict[str, str]:
    """Return this process's environment with the choice of Spark's Python that it had before millrace was imported."""
    others = {name: value for name, value in os.environ.items() if name not in (DRIVER_PYTHON, WORKER_PYTHON)}
    return {**others, **_AT_IMPORT}


def planner_python(environment: Mapping[str, str]) -> str:
    """Return the Python that a Java process with an environment starts for data sources: a path or a name."""
    return environment.get(DRIVER_PYTHON, environment.get(WORKER_PYTHON, DEFAULT_PYTHON))


def is_this_python(program: str) -> bool:
    """Return whether a program is this process's Python, in the same environment."""
    path = find_program(program)
    if path is None:
        return False
    # Environments link to the same file, each from a folder of its own
    return path.parent.resolve() == Path(sys.executable).parent.resolve() and path.samefile(sys.executable)


def find_program(program: str) -> Path | None:
    """Find a program as Spark does: a path, or a name on the ``PATH``."""
    from shutil import which

    path = which(program)
    return None if path is None else Path(path)


def _jvm_is_running() -> bool:
    from millrace.pyspark_internals import has_jvm

    return has_jvm()
