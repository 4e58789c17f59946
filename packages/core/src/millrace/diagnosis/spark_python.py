"""Check that the Python that Spark starts has millrace."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

from millrace.diagnosis.findings import Finding, error, ok, warning
from millrace.spark_python import (
    DRIVER_PYTHON,
    WORKER_PYTHON,
    find_program,
    import_chooses_python,
    is_this_python,
    planner_python,
)

_FINDS_MILLRACE = "import importlib.util; print(importlib.util.find_spec('pyspark_millrace') is not None)"
_TIMEOUT_S = 5.0


def check_spark_python(environment: Mapping[str, str]) -> Finding:
    """Check the Python that plans data sources in programs with this environment: see `millrace.spark_python`."""
    variable = next((name for name in (DRIVER_PYTHON, WORKER_PYTHON) if name in environment), None)
    program = planner_python(environment)
    target = f"{variable}={program}" if variable else f"{program} ({find_program(program) or 'not on the PATH'})"
    if is_this_python(program):
        return ok("python", target, "Spark starts this Python")
    problem = _problem(program)
    if problem is None:
        return ok("python", target, "Spark starts this Python, which has millrace, too")
    remedy = f"export {variable or WORKER_PYTHON}={sys.executable}"
    if import_chooses_python(environment):
        message = f"Spark starts this Python in programs that do not import millrace, and {problem}"
        return warning("python", target, message, f"{remedy}, or activate its environment")
    return error("python", target, f"Spark starts this Python, and {problem}", remedy)


def _problem(program: str) -> str | None:
    """Return why a Python is not one for millrace; None if it is."""
    try:
        ended = subprocess.run(
            [program, "-c", _FINDS_MILLRACE], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        return f"it does not run: {failure}"
    return None if ended.stdout.strip() == "True" else "it has no millrace"
