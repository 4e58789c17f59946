"""Lines of progress on a terminal, beside what the program writes."""

from __future__ import annotations

import io

from millrace.api.terminal_progress import ClearingStream, ProgressLines


def test_lines_are_drawn_from_the_cursor_and_erased_before_the_program_writes() -> None:
    terminal = io.StringIO()
    lines = ProgressLines(terminal)
    lines.draw(["a: running", "b: running"])
    assert terminal.getvalue() == "a: running\nb: running\x1b[1A\r"
    print("of the program", file=ClearingStream(terminal, lines))
    assert terminal.getvalue().endswith("\r\x1b[J" + "of the program\n")


def test_lines_of_queries_that_have_ended_stay() -> None:
    terminal = io.StringIO()
    lines = ProgressLines(terminal)
    lines.draw(["a: running"])
    lines.draw(["b: running"], ["a: ended"])
    lines.clear()
    assert terminal.getvalue() == "a: running\r\r\x1b[Ja: ended\nb: running\r\r\x1b[J"


def test_a_line_is_no_longer_than_the_terminal_is_wide(monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    terminal = io.StringIO()
    ProgressLines(terminal).draw(["a" * 30])
    assert terminal.getvalue() == "a" * 19 + "\r"


def test_a_stream_keeps_its_other_properties() -> None:
    terminal = io.StringIO()
    assert ClearingStream(terminal, ProgressLines(terminal)).isatty() is False
