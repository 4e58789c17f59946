"""The conformance suites tell plugin authors their rules: in docstrings, and in each failure."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import millrace.testing

FILES = sorted(file for file in Path(millrace.testing.__file__).parent.glob("*.py") if file.name != "__init__.py")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_failure_says_the_rule(file: Path) -> None:
    tree = ast.parse(file.read_text())
    silent = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assert) and node.msg is None]
    assert silent == []
    assert "pytest.raises" not in file.read_text(), "its failure says no rule: use must_refuse"


@pytest.mark.parametrize("name", millrace.testing.__all__)
def test_each_suite_lists_its_rules(name: str) -> None:
    doc = getattr(millrace.testing, name).__doc__
    assert "Rules that the tests check" in doc
    assert "Subclass it" in doc or "Override" in doc
