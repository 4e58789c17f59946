import io

import pytest

from millrace_broker.progress import StderrProgress


def test_elsewhere_than_on_a_terminal_counting_is_shown_every_five_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    progress = StderrProgress(clock=lambda: now)
    progress("fetching Kafka (43 MB)")
    now = 4.9
    progress("fetching Kafka: 1 of 3 jars")
    now = 5.0
    progress("fetching Kafka: 2 of 3 jars")
    now = 9.9
    progress("fetching Kafka: 3 of 3 jars")
    progress("Kafka is fetched")
    assert capsys.readouterr().err.splitlines() == [
        "fetching Kafka (43 MB)",
        "fetching Kafka: 2 of 3 jars",
        "Kafka is fetched",
    ]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_one_line_is_overwritten() -> None:
    terminal = Terminal()
    progress = StderrProgress(stream=terminal)
    progress("fetching Kafka: 1 of 3 jars")
    progress("Kafka is fetched")
    assert terminal.getvalue() == "\r\x1b[Kfetching Kafka: 1 of 3 jars\r\x1b[KKafka is fetched\n"
