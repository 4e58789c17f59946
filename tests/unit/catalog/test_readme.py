"""The example in the package's README runs, and prints what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[3] / "packages" / "catalog" / "README.md"


def test_the_example_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)

    exec(compile(code, README.name, "exec"), {})

    assert capsys.readouterr().out.splitlines() == re.findall(r"print\(.*\)  # (.*)", code)
