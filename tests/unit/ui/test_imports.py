"""Reporters, their libraries and the page are imported and started only where they are asked for."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys, threading
import millrace, millrace.api.query_lineage, millrace.api.followers, millrace.spark.stream_writer
{more}
heavy = "millrace_ui", "prometheus_client", "opentelemetry", "openlineage", "starlette", "uvicorn", "sqlglot"
print(sorted(name for name in heavy if name in sys.modules), threading.active_count())
"""


def loaded(more: str = "") -> str:
    program = PROGRAM.format(more=more)
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.strip()


def test_nothing_is_loaded_by_programs_that_report_nothing() -> None:
    assert loaded() == "[] 1"


def test_plugins_are_listed_without_their_libraries() -> None:
    assert loaded("import millrace_ui.plugin as plugin; plugin.millrace_metrics_reporters()") == "['millrace_ui'] 1"


def test_a_reporter_is_loaded_without_its_library() -> None:
    more = "import millrace_ui.opentelemetry_reporter, millrace_ui.openlineage_reporter"
    assert loaded(more) == "['millrace_ui'] 1"
