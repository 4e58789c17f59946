"""``millrace explain-error`` with what terminals have shown of mistakes in sessions with Spark's own settings.

The logs are output of ``tests/programs/make_mistakes.py``, with two of Java's frames in a row at most.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from millrace_cli.commands.explain_error import explain_error
from support.mistakes.all import ALL

LOGS = sorted((Path(__file__).parent / "logs").glob("*.log"))
MISTAKES = {re.sub(r"\W+", "-", mistake.name).strip("-"): mistake for mistake in ALL}

MOST_LINES = 4


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_the_sentence_and_the_remedy_of_a_mistake_are_printed(log: Path) -> None:
    ended = CliRunner().invoke(explain_error, [str(log)])

    assert ended.exit_code == 0
    assert [part for part in MISTAKES[log.stem].says if part not in ended.stdout] == []
    assert len(ended.stdout.splitlines()) <= MOST_LINES < len(log.read_text().splitlines())
