"""Record ``millrace demo`` on a terminal, as an asciicast: ``tox exec -e demo -- python -m docs.record_demo``."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import shutil
import struct
import sys
import termios
import time
from collections.abc import Iterator, Sequence

from docs.generate_recording import CAST

COMMAND = ("millrace", "demo", "--seconds", "20")
COLUMNS, ROWS = 100, 24
_IDLE_S = 2
"""Players shorten longer pauses, such as the start of Spark, to this."""


def main() -> None:
    """Record the command; a failure leaves the old recording as it is."""
    started = time.time()
    events = [(round(moment - started, 2), "o", text) for moment, text in _outputs(COMMAND)]
    header = {
        "version": 2,
        "width": COLUMNS,
        "height": ROWS,
        "timestamp": int(started),
        "idle_time_limit": _IDLE_S,
        "command": " ".join(COMMAND),
    }
    CAST.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in (header, *events)))


def _outputs(command: Sequence[str]) -> Iterator[tuple[float, str]]:
    """Yield the time and the text of each output of a command.

    Raises:
        SystemExit: The command is not installed, or has failed.
    """
    program = shutil.which(command[0])
    if program is None:
        sys.exit(f"there is no command {command[0]}: install millrace-cli")
    child, terminal = pty.fork()
    if child == 0:
        os.execv(program, command)  # noqa: S606 - the command of this module
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    with os.fdopen(terminal, encoding="utf-8", newline="") as output:
        try:
            while text := output.readline():
                yield time.time(), text
        except OSError:
            pass  # Linux reports the end of a terminal so
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        sys.exit(f"{' '.join(command)} has failed")


if __name__ == "__main__":
    main()
