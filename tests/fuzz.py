"""Fuzz decoders, encoders and the parser of SQL: ``python tests/fuzz.py json csv sql --minutes 10``."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

PROPERTIES = Path(__file__).with_name("properties")
PREFIX = "test_format_"
FILES = {path.stem.removeprefix(PREFIX): path for path in sorted(PROPERTIES.glob(f"{PREFIX}*.py"))}
FILES["sql"] = PROPERTIES / "test_sql_statements.py"


def main() -> int:
    """Fuzz one target after the other; a failure ends it, with the example that reproduces it."""
    parser = argparse.ArgumentParser(prog="tox -e fuzz --", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(FILES)}; by default all")
    parser.add_argument("--minutes", type=float, default=10, help="for each target (10)")
    arguments = parser.parse_args()
    if unknown := set(arguments.targets) - set(FILES):
        parser.error(f"no properties of {', '.join(sorted(unknown))}; there are those of {', '.join(FILES)}")
    return max(fuzz(name, arguments.minutes) for name in arguments.targets or FILES)


def fuzz(name: str, minutes: float) -> int:
    """Check the properties of a format, or of SQL, with new random examples again and again."""
    ends = time.monotonic() + minutes * 60
    rounds = 0
    while time.monotonic() < ends:
        seed = int.from_bytes(os.urandom(4))
        command = [sys.executable, "-m", "pytest", "-q", "-x", "--no-header", "--timeout=3600"]
        tests = str(FILES[name])
        environment = {**os.environ, "HYPOTHESIS_PROFILE": "fuzz"}
        done = subprocess.run([*command, f"--hypothesis-seed={seed}", tests], env=environment, check=False)
        if done.returncode:
            print(f"{name}: failed with seed {seed}, in round {rounds + 1}", flush=True)
            return done.returncode
        rounds += 1
    print(f"{name}: {rounds} rounds in {minutes:g} minutes, nothing found", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
