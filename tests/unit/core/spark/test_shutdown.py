"""`Shutdown` runs once, by a call or a signal; each test ends a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.waiting import PATIENCE_S

PROGRAM = """
import os, signal, sys, threading
from millrace.spark.shutdown import Shutdown

def terminate():
    os.kill(os.getpid(), signal.SIGTERM)

lock = threading.Lock()

def stop():
    with lock:
        print("begin", flush=True)
        if sys.argv[1] == "while it stops":
            terminate()
        if sys.argv[1] == "a failing stop":
            raise OSError("boo")
        print("end", flush=True)

ending = Shutdown(stop)
ending.listen()
if sys.argv[1] in ("before it stops", "a failing stop"):
    terminate()
ending()
if sys.argv[1] == "after it stopped":
    terminate()
ending()
print("goes on", flush=True)
"""


@pytest.mark.parametrize(
    ("told", "said", "code"),
    [
        ("before it stops", ["begin", "end"], 143),
        ("while it stops", ["begin", "end"], 143),
        ("after it stopped", ["begin", "end"], 143),
        ("never", ["begin", "end", "goes on"], 0),
        ("a failing stop", ["begin"], 143),
    ],
)
def test_a_process_stops_once_however_it_is_told(told: str, said: list[str], code: int) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, told], capture_output=True, text=True, timeout=PATIENCE_S)
    assert (done.stdout.splitlines(), done.returncode) == (said, code)
