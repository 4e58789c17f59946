"""Record ``millrace demo`` on a terminal of this program's own: ``tox exec -e demo -- python -m docs.record_demo``.

It writes an asciicast, of which ``tox -e docs`` draws the picture.
"""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from docs.generate_recording import CAST

COMMAND = ("millrace", "demo", "--seconds", "20")
COLUMNS, ROWS = 142, 22

_LONGEST_PAUSE_S = 1.5
"""Players shorten longer pauses, such as the start of Spark, to this."""


def main() -> None:
    """Record the demo; one that fails leaves the old recording as it is."""
    record(COMMAND, CAST)


def record(command: Sequence[str], cast: Path) -> None:
    """Run a command on a terminal, and write the lines that it prints as an asciicast, version 2.

    Args:
        command: The program and its arguments.
        cast: The file to write.

    Raises:
        FileNotFoundError: The program is not installed.
        SystemExit: The command has failed; nothing is written.
    """
    header = {
        "version": 2,
        "width": COLUMNS,
        "height": ROWS,
        "timestamp": int(time.time()),
        "idle_time_limit": _LONGEST_PAUSE_S,
        "command": " ".join(command),
    }
    events = [(round(seconds, 2), "o", text) for seconds, text in _lines(command)]
    cast.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in (header, *events)))


def _lines(command: Sequence[str]) -> Iterator[tuple[float, str]]:
    """Yield each line that a command writes, with the seconds since its start."""
    started = time.monotonic()
    controller, terminal = pty.openpty()
    termios.tcsetwinsize(terminal, (ROWS, COLUMNS))
    with (
        os.fdopen(controller, encoding="utf-8", newline="") as output,
        subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal) as process,
    ):
        os.close(terminal)
        try:
            while line := output.readline():
                yield time.monotonic() - started, line
        except OSError:
            pass  # Linux reports the end of a terminal by an error
    if process.returncode:
        sys.exit(f"{' '.join(command)} has failed")


if __name__ == "__main__":
    main()
