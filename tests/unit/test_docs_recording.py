"""The animation of a recorded terminal."""

from __future__ import annotations

import pytest
from docs.generate_recording import ShownLine, shown_lines

HEADER = {"command": "millrace demo", "width": 10, "height": 3, "idle_time_limit": 2}


def test_pauses_are_shortened_and_long_lines_wrapped() -> None:
    events = [(0.5, "o", "starting\r\n"), (60.5, "o", "12345678901\r\n")]

    assert shown_lines(HEADER, events) == [
        ShownLine(0, "$ millrace demo"),
        ShownLine(0.5, "starting"),
        ShownLine(2.5, "1234567890"),
        ShownLine(2.62, "1"),
    ]


def test_a_program_that_moves_the_cursor_is_refused() -> None:
    with pytest.raises(ValueError, match="control sequences at 1 s"):
        shown_lines(HEADER, [(1, "o", "\x1b[2Kprogress\r\n")])
