from __future__ import annotations

import pytest
from click.testing import CliRunner

from millrace.errors import OptionsError
from millrace_ui.command import ui


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "no brokers are given; give them by --bootstrap-servers HOST:PORT"),
        (["--host", "0.0.0.0"], "--host 0.0.0.0: other machines reach it, so give a --token"),
    ],
)
def test_it_says_what_it_needs(arguments: list[str], problem: str) -> None:
    error = CliRunner().invoke(ui, arguments).exception
    assert isinstance(error, OptionsError)
    assert problem in str(error)
