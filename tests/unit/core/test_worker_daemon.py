"""The daemon of Spark's Python workers."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from pyspark.serializers import UTF8Deserializer, read_int

from support.waiting import wait_until


def lose_a_worker(daemon: str, folder: str, **more: str) -> bytes:
    """Start a daemon as Spark does, close the connection of its first worker, and return what both printed."""
    settings = {
        "PYTHON_UNIX_DOMAIN_ENABLED": "true",
        "PYTHON_WORKER_FACTORY_SOCK_DIR": folder,
        "SPARK_REUSE_WORKER": "1",
        **more,
    }
    command = [sys.executable, "-m", daemon, "pyspark.worker"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env={**os.environ, **settings}, **pipes) as process:
        path = UTF8Deserializer().loads(process.stdout)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(path)
            with connection.makefile("rb") as answers:
                worker = read_int(answers)
        wait_until(lambda: not Path(f"/proc/{worker}").exists(), "end of the worker")
        process.stdin.close()
        return process.stderr.read()


@pytest.mark.parametrize("more", [{"PYTHON_DAEMON_KILL_WORKER_ON_FLUSH_FAILURE": "1"}, {}], ids=["ends", "reports"])
@pytest.mark.parametrize(
    ("daemon", "is_quiet"), [("millrace.worker_daemon", True), ("pyspark.daemon", False)], ids=["ours", "PySpark's"]
)
def test_a_worker_whose_output_nobody_reads_prints_nothing(daemon, is_quiet, more):
    # The path of a socket has at most 108 characters, of which pytest's folders may leave too few
    with tempfile.TemporaryDirectory() as folder:
        printed = lose_a_worker(daemon, folder, **more)

    assert (b"BrokenPipeError" not in printed) is is_quiet
    assert (printed == b"") is is_quiet
