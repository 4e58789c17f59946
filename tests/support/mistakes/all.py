"""All mistakes, and how a terminal shows them."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import termios
import threading
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import Producer

from millrace_broker import KafkaBroker
from support.mistakes import Mistake, options, reads, writes
from support.mistakes.topics import TOPICS
from support.retrying import flush
from support.waiting import PATIENCE_S

ALL: tuple[Mistake, ...] = (*(wrong.in_spark() for wrong in options.ALL), *reads.ALL, *writes.ALL)

MOST_LINES = 8

_LONGEST_S = 1700

_PROGRAM = Path(__file__).parents[2] / "programs" / "make_mistakes.py"
_MARK = "\x1e"
_OF_JAVA = re.compile(
    r"(?:\[Stage .*\])?\d\d/\d\d/\d\d [\d:]+ [A-Z]+ |\s+at [\w.$/]+|\s+\.\.\. \d+ more|"
    r"(?:Caused by: )?(?:java|org)\.[\w.$]+: | SQLSTATE: \w+$|\[Stage .*\]$"
)
"""The beginning of an event of Java's log, and the lines that follow it."""


class Shown(NamedTuple):
    """Output of a terminal after a mistake.

    Attributes:
        mistake: The mistake.
        lines: The lines, without those that are overwritten.
        seconds: How long it took.
    """

    mistake: Mistake
    lines: list[str]
    seconds: float

    def fault(self) -> str | None:
        """Return why this is of no help; None if it is."""
        text = "\n".join(self.lines)
        missing = [part for part in self.mistake.says if part not in text]
        if len(self.lines) <= MOST_LINES and not missing:
            return None
        return f"{self.mistake.name}: {len(self.lines)} lines, without {missing}:\n{text[:3000]}"

    def without_log(self) -> Shown:
        """Return what is shown beside the events of Java's log: all that comes from Python."""
        return self._replace(lines=[line for line in self.lines if not _OF_JAVA.match(line)])


def make_topics(broker: KafkaBroker) -> None:
    """Make the topics of a playground."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for topic, values in TOPICS.items():
        broker.create_topic(topic)
        for value in values:
            producer.produce(topic, value)
    flush(producer)


class Terminal:
    """A terminal in which mistakes are made in a session, one after the other.

    Args:
        kind: Of the session: local, plain or shortened.
        servers: Addresses of the broker.
        folder: For its files.
        mistakes: The mistakes.
    """

    def __init__(self, kind: str, servers: str, folder: Path, mistakes: Collection[Mistake]) -> None:
        self._mistakes = {mistake.name: mistake for mistake in mistakes}
        self._folder = folder / kind
        self._folder.mkdir()
        tests = str(Path(__file__).parents[2])
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([tests, *sys.path]), "PYTHONUNBUFFERED": "1"}
        command = [sys.executable, str(_PROGRAM), kind, servers, str(self._folder), *self._mistakes]
        self._screen, screen_of_program = pty.openpty()
        _leave_line_ends(screen_of_program)
        self._process = subprocess.Popen(
            command, stdout=screen_of_program, stderr=screen_of_program, cwd=self._folder, env=environment
        )
        os.close(screen_of_program)
        self._reader = threading.Thread(target=self._copy, daemon=True)
        self._reader.start()

    def shown(self) -> list[Shown]:
        """Wait until all mistakes are made, and return what was shown of each."""
        try:
            code = self._process.wait(timeout=_LONGEST_S)
        finally:
            self._process.kill()
        self._reader.join(PATIENCE_S)
        output = self._file.read_text(errors="replace")
        assert code == 0, output
        # The last attempt counts
        return list({shown.mistake.name: shown for shown in self._read(output.split(_MARK)[1:])}.values())

    @property
    def _file(self) -> Path:
        return self._folder / "output"

    def _copy(self) -> None:
        """Copy what the terminal shows to a file, until the program and its Java have closed it."""
        with self._file.open("wb") as file:
            while True:
                try:
                    block = os.read(self._screen, 65536)
                except OSError:  # a closed terminal, on Linux
                    break
                if not block:
                    break
                file.write(block)
                file.flush()
        os.close(self._screen)

    def _read(self, parts: Sequence[str]) -> Iterator[Shown]:
        for failed, after in zip(parts[::2], parts[1::2], strict=True):
            name, _, first = failed.partition("\n")
            seconds, _, rest = after.partition("\n")
            lines = [line.rstrip("\r").split("\r")[-1] for line in (first + rest).split("\n")]
            yield Shown(self._mistakes[name], [line for line in lines if line.strip()], float(seconds))


def _leave_line_ends(terminal: int) -> None:
    """Let a terminal not add carriage returns."""
    attributes = termios.tcgetattr(terminal)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(terminal, termios.TCSANOW, attributes)
