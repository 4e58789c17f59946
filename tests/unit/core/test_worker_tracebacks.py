"""Tracebacks of PySpark's worker processes on the terminal of a command."""

from __future__ import annotations

import subprocess
import sys

from millrace.worker_tracebacks import hidden_worker_tracebacks, without_worker_tracebacks
from support.waiting import wait_until

OF_DAEMON = """Traceback (most recent call last):
  File "/lib/python3.11/site-packages/pyspark/daemon.py", line 264, in manager
    code = worker(sock, authenticated)
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/lib/python3.11/site-packages/pyspark/daemon.py", line 95, in worker
    outfile.flush()
BrokenPipeError: [Errno 32] Broken pipe
"""
OF_RUNNER = """Traceback (most recent call last):
  File "/lib/python3.11/site-packages/pyspark/util.py", line 822, in local_connect_and_auth
    sock.connect(sock_path)
FileNotFoundError: [Errno 2] No such file or directory

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "<frozen runpy>", line 198, in _run_module_as_main
  File "/lib/python3.11/site-packages/pyspark/sql/streaming/python_streaming_source_runner.py", line 313, in <module>
    with get_sock_file_to_executor(timeout=None) as sock_file:
pyspark.errors.exceptions.base.PySparkRuntimeError: [CANNOT_OPEN_SOCKET] Can not open socket
"""
OF_OTHERS = """Traceback (most recent call last):
  File "/home/me/job.py", line 1, in <module>
    1 / 0
ZeroDivisionError: division by zero
"""


def shown(text: str) -> str:
    return "".join(without_worker_tracebacks(text.splitlines(keepends=True)))


def test_tracebacks_with_frames_of_pyspark_are_hidden():
    text = f"WARN a\n{OF_DAEMON}WARN b\n{OF_RUNNER}{OF_DAEMON}\nWARN c\n\nWARN d\n"
    assert shown(text) == "WARN a\nWARN b\nWARN c\n\nWARN d\n"


def test_lines_that_every_start_of_java_writes_are_hidden() -> None:
    text = 'WARNING: Using incubator modules: jdk.incubator.vector\nSetting Spark log level to "OFF".\nWARN a\n'
    assert shown(text) == "WARN a\n"


def test_all_other_lines_stay():
    for text in (OF_OTHERS, f"a\n{OF_OTHERS}b\n", "a\n\nb\n", OF_OTHERS.rsplit("\n", 2)[0] + "\n"):
        assert shown(text) == text


def test_processes_that_are_started_meanwhile_print_none(capfd):
    program = f"import sys; sys.stderr.write({OF_DAEMON!r} + 'WARN a\\n')"
    with hidden_worker_tracebacks():
        process = subprocess.Popen([sys.executable, "-c", program])
    sys.stderr.write("of the command\n")
    assert process.wait() == 0
    printed: list[str] = []

    def is_forwarded() -> bool:
        printed.append(capfd.readouterr().err)
        return "WARN a\n" in "".join(printed)

    wait_until(is_forwarded, "the line of the process")
    assert sorted("".join(printed).splitlines()) == ["WARN a", "of the command"]
