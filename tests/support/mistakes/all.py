"""All mistakes, and how a terminal shows them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from confluent_kafka import Producer

from millrace_broker import KafkaBroker
from support.mistakes import Mistake, options, reads, writes
from support.mistakes.topics import TOPICS

ALL: tuple[Mistake, ...] = (*(wrong.in_spark() for wrong in options.ALL), *reads.ALL, *writes.ALL)

MOST_LINES = 8

_PROGRAM = Path(__file__).parents[2] / "programs" / "make_mistakes.py"
_MARK = "\x1e"


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


def make_topics(broker: KafkaBroker) -> None:
    """Make the topics of a playground."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for topic, values in TOPICS.items():
        broker.create_topic(topic)
        for value in values:
            producer.produce(topic, value)
    producer.flush()


class Terminal:
    """A terminal in which mistakes are made in a session, one after the other.

    Args:
        kind: Of the session: local or plain.
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
        self._output = (self._folder / "output").open("w")
        self._process = subprocess.Popen(
            command, stdout=self._output, stderr=subprocess.STDOUT, cwd=self._folder, env=environment
        )

    def shown(self) -> list[Shown]:
        """Wait until all mistakes are made, and return what was shown of each."""
        with self._output:
            assert self._process.wait(timeout=600) == 0, (self._folder / "output").read_text()
        return list(self._read((self._folder / "output").read_text().split(_MARK)[1:]))

    def _read(self, parts: Sequence[str]) -> Iterator[Shown]:
        for failed, after in zip(parts[::2], parts[1::2], strict=True):
            name, _, first = failed.partition("\n")
            seconds, _, rest = after.partition("\n")
            lines = [line.split("\r")[-1] for line in (first + rest).splitlines()]
            yield Shown(self._mistakes[name], [line for line in lines if line.strip()], float(seconds))
