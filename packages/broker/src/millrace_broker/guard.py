"""Run a broker's Java, and end it when the parent process has exited, even if that was killed.

`millrace_broker.process` runs this file as a script; it imports the standard library alone. Requests arrive as lines of
JSON on standard input, and each is answered by one line of JSON on standard output:

- ``{"do": "start", "command": [...], "console": FILE}`` is answered ``{"pid": N}``
- ``{"do": "stop", "grace": SECONDS}``: SIGTERM, then SIGKILL after the grace period; answered ``{"exit": CODE}``
- ``{"do": "poll"}`` is answered ``{"exit": CODE}``, with null while Java runs
- ``{"do": "discard", "folder": DIR}``: delete this folder on exit; answered ``{}``

At the end of input, or when the parent has changed, Java is killed, the folder deleted, and the guard exits.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

# A closed pipe shows at once that the parent has exited, unless a forked child of the parent keeps it open
_PARENT_CHECK_SECONDS = 0.5
_PR_SET_PDEATHSIG = 1


class Guard:
    """One Java process and its temporary folder."""

    def __init__(self) -> None:
        self._java: subprocess.Popen[bytes] | None = None
        self._folder: str | None = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Carry out one request, as the module's docstring describes."""
        match request["do"]:
            case "start":
                return self._start(request["command"], request["console"])
            case "stop":
                return {"exit": self._stop(request["grace"])}
            case "poll":
                return {"exit": self._java.poll() if self._java else 0}
            case "discard":
                self._folder = request["folder"]
                return {}
            case other:
                return {"error": f"unknown request {other!r}"}

    def end(self) -> None:
        """Kill Java and delete the folder."""
        self._stop(0)
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, command: list[str], console: str) -> dict[str, Any]:
        with open(console, "ab") as output:  # noqa: PTH123 - pathlib would double this script's start-up time
            try:
                self._java = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    preexec_fn=_die_with_guard,  # noqa: PLW1509 - this program has no threads
                )
            except OSError as error:
                return {"error": str(error)}
        return {"pid": self._java.pid}

    def _stop(self, grace: float) -> int:
        if not self._java:
            return 0
        if grace:
            self._java.terminate()
            try:
                return self._java.wait(grace)
            except subprocess.TimeoutExpired:
                pass
        self._java.kill()
        return self._java.wait()


def _die_with_guard() -> None:
    # Runs in the child. On Linux, Java then dies with the guard even if that is killed by SIGKILL.
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _requests(parent: int) -> Iterator[dict[str, Any]]:
    buffer = b""
    while True:
        ready, _, _ = select.select([0], [], [], _PARENT_CHECK_SECONDS)
        if os.getppid() != parent:
            return
        if not ready:
            continue
        data = os.read(0, 65536)
        if not data:
            return
        *lines, buffer = (buffer + data).split(b"\n")
        yield from map(json.loads, lines)


def main(parent: int) -> None:
    """Serve the requests of the parent process.

    Args:
        parent: The parent's process id.
    """
    # Ctrl-C is the parent's to handle; a SIGTERM still cleans up
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    guard = Guard()
    try:
        for request in _requests(parent):
            os.write(1, json.dumps(guard.answer(request)).encode() + b"\n")
    except BrokenPipeError:
        sys.exit(0)
    finally:
        guard.end()


if __name__ == "__main__":
    main(int(sys.argv[1]))
