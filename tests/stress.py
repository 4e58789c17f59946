"""Run tests again and again beside busy loops: ``python tests/stress.py tests/integration/test_stream.py --rounds 20``.

A test that fails here has counted on speed, on an order of events or on a random value.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

LOOP = """
import os
tests = os.getppid()
while os.getppid() == tests:
    for _ in range(1_000_000):
        pass
"""
"""A program that keeps one core busy until the program that started it is gone, however that ended."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run tests in rounds; the first round that fails ends it, with the command that repeats this round."""
    parser = argparse.ArgumentParser(
        prog="tox -e stress --",
        usage="%(prog)s TEST... [--rounds N] [--loops N] [--seed N] [further options of pytest]",
        description=__doc__,
        allow_abbrev=False,
    )
    parser.add_argument("--rounds", type=int, default=10, help="how often the tests run (10)")
    parser.add_argument("--loops", type=int, default=2, help="how many busy loops run beside them (2)")
    parser.add_argument("--seed", type=int, help="that of the first round; by default random, as those of the others")
    given, tests = parser.parse_known_args(arguments)
    if not tests:
        parser.error("name the tests to run, such as tests/integration/test_stream.py")
    # tox ends its commands by SIGTERM, if not by Ctrl-C
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    with busy_loops(given.loops):
        for number in range(1, given.rounds + 1):
            seed = given.seed if given.seed is not None and number == 1 else int.from_bytes(os.urandom(4))
            began = time.monotonic()
            code = run_round(tests, seed)
            where = f"round {number} of {given.rounds}, seed {seed}, {time.monotonic() - began:.0f} s"
            if code:
                print(f"failed: {where}. Again: {repeat(tests, seed, given.loops)}", flush=True)
                return code
            print(f"passed: {where}", flush=True)
    return 0


@contextmanager
def busy_loops(count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Keep cores busy inside the block."""
    with ExitStack() as stack:
        loops = []
        for _ in range(count):
            # Linux shares the processor among sessions first: loops of the tests' own would take the tests' share alone
            loop = subprocess.Popen([sys.executable, "-c", LOOP], start_new_session=True)
            stack.callback(loop.wait)
            stack.callback(loop.kill)
            loops.append(loop)
        yield loops


def run_round(tests: Sequence[str], seed: int) -> int:
    """Run the tests once and return pytest's exit code; the seed decides the order of sets, and of random kills."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "--no-header", *tests]
    # Python accepts seeds of 32 bits
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "SOAK_SEED": str(seed)}
    running = subprocess.Popen(command, env=environment)
    try:
        return running.wait()
    except KeyboardInterrupt:
        # A terminal sends Ctrl-C to all processes; the tests then clean up
        running.wait()
        raise
    except SystemExit:
        running.send_signal(signal.SIGINT)
        running.wait()
        raise


def repeat(tests: Sequence[str], seed: int, loops: int) -> str:
    """Return the command that repeats a round."""
    return shlex.join(
        ["tox", "-e", "stress", "--", *tests, "--seed", str(seed), "--rounds", "1", "--loops", str(loops)]
    )


if __name__ == "__main__":
    sys.exit(main())
