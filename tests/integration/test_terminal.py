"""A program with `local_session` on a real terminal: the progress of its stream, and its own output alone."""

from __future__ import annotations

import io
import os
import pty
import re
import sys

import pytest

from support.kafka import produce

pytestmark = pytest.mark.nightly

PROGRAM = """
import sys
import millrace
spark = millrace.local_session(progress=sys.argv[3] == "on")
print("the session runs")
query = (
    spark.readStream.format("millrace")
    .options(**{"properties.bootstrap.servers": sys.argv[1], "topic": sys.argv[2], "format": "raw"})
    .option("scan.startup.mode", "earliest-offset").schema("value STRING").load()
    .writeStream.queryName("numbers").format("noop").start()
)
query.processAllAvailable()
print("of the program")
query.stop()
"""


def shown_on_a_terminal(folder, *arguments: str) -> str:
    """Return the output of a program on a terminal, without the sequences that move its cursor."""
    (folder / "program.py").write_text(PROGRAM)
    process, terminal = pty.fork()
    if process == 0:
        os.execv(sys.executable, [sys.executable, str(folder / "program.py"), *arguments])
    written = io.BytesIO()
    try:
        while block := os.read(terminal, 65536):
            written.write(block)
    except OSError:
        # Linux says so when the program has ended
        pass
    finally:
        os.close(terminal)
        _, status = os.waitpid(process, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    return written.getvalue().decode()


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("progress", ["on", "off"])
def test_a_stream_shows_its_progress_and_spark_nothing(broker, make_topic, tmp_path, spark_home, progress):
    topic = make_topic()
    produce(broker.bootstrap_servers, topic, [{"value": value} for value in (b"1", b"2", b"3")])
    text = shown_on_a_terminal(tmp_path, broker.bootstrap_servers, topic, progress)
    drawn = re.compile(r"numbers: (?:[^\r\n]*)\r*\n?(?:\x1b\[J)?")
    assert ("numbers: ended" in text) is (progress == "on")
    assert ("3 rows" in text) is (progress == "on")
    others = re.sub(r"\x1b\[\d*[A-Z]", "", drawn.sub("", text)).split("\r\n")
    assert [line.strip("\r") for line in others if line.strip("\r")] == ["the session runs", "of the program"]
