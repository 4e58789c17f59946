"""The recording of the demo, its animation, and the program that records it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from docs import generate_recording, record_demo
from docs.generate_recording import CAST, PAGE, Row, animate, rows_of

SVG = "{http://www.w3.org/2000/svg}"
HEADER = {"version": 2, "command": "millrace demo", "width": 10, "height": 3, "idle_time_limit": 2}
LINES = [(0.5, "o", "starting\r\n"), (60.5, "o", "12345678901\r\n"), (60.6, "o", "a < b\r\n")]


def test_the_picture_is_that_of_the_recording() -> None:
    assert PAGE.read_text() == generate_recording.render(), "run: tox -e docs"
    assert len(PAGE.read_bytes()) < 100_000


def test_the_recording_shows_the_demo_and_nothing_of_the_machine() -> None:
    header, *events = map(json.loads, CAST.read_text().splitlines())
    shown = "".join(text for _, _, text in events)
    assert header["command"] == " ".join(record_demo.COMMAND)
    assert re.search(r"\d s \| in [\d,]+/s \| out [\d,]+/s \| lag [\d,]+ \| {", shown)
    assert "from pyspark.sql import" in shown
    # Paths of a user, names of hosts, what a program was logged in with
    assert re.findall(r"/(?:home|root|Users|tmp|var|private|opt|work)\b\S*", CAST.read_text()) == []
    assert set(re.findall(r"([\w.-]+):\d{4,}", shown)) == {"127.0.0.1"}
    assert not re.search(r"token|password|secret", shown, re.IGNORECASE)


def test_pauses_are_shortened_and_long_lines_wrapped() -> None:
    rows = list(rows_of(LINES, longest_pause_s=2, columns=10))
    assert rows == [Row(0.5, "starting"), Row(2.5, "1234567890"), Row(2.5, "1"), Row(pytest.approx(2.6), "a < b")]


def test_an_empty_line_is_a_row() -> None:
    assert list(rows_of([(0.0, "o", "\r\n")], longest_pause_s=2, columns=10)) == [Row(0, "")]


def test_a_program_that_moves_the_cursor_is_refused() -> None:
    with pytest.raises(ValueError, match="control sequences at 1 s"):
        list(rows_of([(1, "o", "\x1b[2Kprogress\r\n")], longest_pause_s=2, columns=10))


def test_rows_are_uncovered_and_then_scrolled() -> None:
    picture = ET.fromstring(animate("\n".join(map(json.dumps, (HEADER, *LINES)))))
    style = picture.findtext(f"{SVG}style")
    texts = [text.text for text in picture.iter(f"{SVG}text")]

    assert texts == ["$ millrace demo", "starting", "1234567890", "1", "a < b"]
    # Rows at 0, 0.5, 2.5, 2.62 and 2.74 s, and 6 s to read the end
    assert "uncover 8.74s" in style
    assert re.search(r"@keyframes uncover \{ 0.00% .*18px.* 5.72% .*36px.* 28.60% .*54px.* \}", style)
    assert re.search(r"@keyframes scroll \{ 29.98% .*-18px.* 31.35% .*-36px.* \}", style)


def test_a_program_is_recorded_on_a_terminal(tmp_path: Path) -> None:
    cast = tmp_path / "shown.cast"
    program = "import os, sys; print(sys.stdout.isatty(), os.get_terminal_size().columns); print('end')"
    record_demo.record([sys.executable, "-c", program], cast)

    header, *events = map(json.loads, cast.read_text().splitlines())
    assert (header["version"], header["width"]) == (2, record_demo.COLUMNS)
    assert [(kind, text) for _, kind, text in events] == [("o", f"True {record_demo.COLUMNS}\r\n"), ("o", "end\r\n")]
    assert 0 < events[0][0] <= events[1][0]


def test_a_program_that_fails_leaves_the_old_recording(tmp_path: Path) -> None:
    cast = tmp_path / "shown.cast"
    cast.write_text("old")
    with pytest.raises(SystemExit, match="has failed"):
        record_demo.record([sys.executable, "-c", "print('half'); raise SystemExit(1)"], cast)
    assert cast.read_text() == "old"
