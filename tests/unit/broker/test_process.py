import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from millrace.errors import MachineError
from millrace_broker.process import GuardedProcess, process_identity
from support.waiting import wait_until

DEAF = ["/bin/sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 0.05; done"]

PARENT = """
import sys, time, os
from pathlib import Path
from millrace_broker.process import GuardedProcess
folder = Path(sys.argv[1])
process = GuardedProcess(folder)
process.start(["sleep", "600"], folder / "console.log")
forked = os.fork() if sys.argv[2] == "fork" else 0
if forked or sys.argv[2] == "alone":
    print(process.pid, process.guard_pid, forked, flush=True)
time.sleep(600)
"""


def wait_until_gone(pid: int) -> None:
    wait_until(lambda: process_identity(pid) is None, "the process to end")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "temporary"
    path.mkdir()
    return path


def test_stop_ends_a_process_that_listens(folder: Path) -> None:
    process = GuardedProcess(folder)
    process.start(["sleep", "600"], folder / "console.log")
    pid = process.pid
    assert pid
    assert process.exit_code() is None
    process.stop(30)
    assert process_identity(pid) is None
    assert process.exit_code() == -signal.SIGTERM
    process.close()


def test_stop_kills_one_that_does_not(folder: Path) -> None:
    process = GuardedProcess(folder)
    process.start(DEAF, folder / "console.log")
    wait_until(lambda: (folder / "console.log").read_text() == "deaf\n", "its trap")
    process.stop(0.1)
    assert process.exit_code() == -signal.SIGKILL
    process.close()


def test_close_ends_everything_and_deletes_the_folder(folder: Path) -> None:
    process = GuardedProcess(folder)
    process.start(["sleep", "600"], folder / "console.log")
    pid, guard = process.pid, process.guard_pid
    assert pid
    process.close()
    assert process_identity(pid) is None
    assert process_identity(guard) is None
    assert not folder.exists()


def test_a_folder_that_is_to_be_kept_is_kept(folder: Path) -> None:
    process = GuardedProcess(None)
    process.start(["sleep", "600"], folder / "console.log")
    process.close()
    assert folder.exists()


def test_a_program_that_does_not_exist_is_an_error(folder: Path) -> None:
    process = GuardedProcess(folder)
    with pytest.raises(MachineError, match=r"Java could not be started: .*nowhere"):
        process.start(["/nowhere/java"], folder / "console.log")
    process.close()


@pytest.mark.parametrize("parent", ["alone", "fork"])
def test_nothing_is_left_when_the_parent_is_killed(folder: Path, parent: str) -> None:
    """A fork of the parent lives on and keeps the parent's end of the guard's pipe open."""
    command = [sys.executable, "-c", PARENT, str(folder), parent]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        pid, guard, forked = map(int, running.stdout.readline().split() or [0, 0, 0])
        running.kill()
    try:
        wait_until_gone(pid)
        wait_until_gone(guard)
        assert not folder.exists()
    finally:
        if forked:
            os.kill(forked, signal.SIGKILL)


def test_a_killed_guard_takes_its_process_along(folder: Path) -> None:
    process = GuardedProcess(folder)
    process.start(["sleep", "600"], folder / "console.log")
    pid = process.pid
    assert pid
    os.kill(process.guard_pid, signal.SIGKILL)
    with pytest.raises(MachineError, match="the guard process of the Kafka broker has exited"):
        process.exit_code()
    wait_until_gone(pid)
    process.close()
