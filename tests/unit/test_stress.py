"""Rounds of tests beside busy loops, in a process of their own as `tox -e stress` runs them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

import stress
from support.waiting import wait_until

PROGRAM = Path(stress.__file__)
# The rounds begin sooner
WITHOUT_PLUGINS = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}

PASSES = "def test_passes(): pass"
FAILS_THE_SECOND_TIME = """
from pathlib import Path

def test_fails_the_second_time(): Path(__file__).with_name("ran").touch(exist_ok=False)
"""
WAITS = """
import threading
from pathlib import Path

def test_waits():
    Path(__file__).with_name("began").touch()
    threading.Event().wait()
"""


def has_ended(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return process.status() == psutil.STATUS_ZOMBIE
    return True


def is_busy(loop: psutil.Process) -> bool:
    return loop.cpu_times().user > 0


def test_loops_are_busy_in_sessions_of_their_own_and_end_with_the_block() -> None:
    with stress.busy_loops(2) as loops:
        wait_until(lambda: all(is_busy(psutil.Process(loop.pid)) for loop in loops), "the loops to begin")
        ids = [loop.pid for loop in loops]
        assert [os.getsid(pid) for pid in ids] == ids
    assert not any(psutil.pid_exists(pid) for pid in ids)


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PROGRAM), *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=WITHOUT_PLUGINS)


def test_the_first_round_that_fails_ends_it_and_says_how_to_repeat_it(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(FAILS_THE_SECOND_TIME)
    tests = ["test_it.py", "-p", "no:cacheprovider"]

    ended = run(tmp_path, *tests, "--rounds", "5", "--loops", "0", "--seed", "7")

    assert ended.returncode == 1
    assert "passed: round 1 of 5, seed 7, " in ended.stdout
    *_, told = ended.stdout.splitlines()
    assert told.startswith("failed: round 2 of 5, seed ")
    seed = told.split("seed ")[1].split(",")[0]
    assert told.endswith(f"Again: tox -e stress -- {' '.join(tests)} --seed {seed} --rounds 1 --loops 0")


def test_rounds_that_all_pass_are_a_success(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(PASSES)

    ended = run(tmp_path, "test_it.py", "--rounds", "2", "--loops", "0")

    assert (ended.returncode, ended.stdout.count("passed: round")) == (0, 2)


def test_no_tests_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        stress.main(["--rounds", "3"])
    assert "name the tests to run, such as tests/integration/test_stream.py" in capsys.readouterr().err


@contextmanager
def stressed(folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], list[psutil.Process]]]:
    """A run in the middle of its first round, and the processes that it has started."""
    started: list[psutil.Process] = []
    (folder / "test_it.py").write_text(WAITS)
    command = [sys.executable, str(PROGRAM), "test_it.py", "--loops", "1"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, env=WITHOUT_PLUGINS) as running:
        try:
            wait_until((folder / "began").exists, "the first round")
            started = psutil.Process(running.pid).children(recursive=True)
            yield running, started
        finally:
            running.kill()
            for process in started:
                with suppress(psutil.NoSuchProcess):
                    process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_loops_end_with_a_run_that_is_interrupted(tmp_path: Path, number: signal.Signals) -> None:
    with stressed(tmp_path) as (running, started):
        (loop,) = [process for process in started if os.getsid(process.pid) == process.pid]
        running.send_signal(number)
        wait_until(lambda: has_ended(loop), "the loop to end")
