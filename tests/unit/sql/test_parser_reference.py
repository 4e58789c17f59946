"""The SQL examples of the reference's pages, by page and line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest

from millrace_sql.errors import SqlSyntaxError
from millrace_sql.parser import parse
from millrace_sql.render import render

REFERENCE = Path(__file__).parents[4] / "shared" / "reference"

TEMPLATES = {("004", 23)}
"""Descriptions of a syntax, not SQL."""

ALTERNATIVES = {("000", 837)}
"""Examples that show several values of an option in one statement."""


START = re.compile(r"(?:`|.*ddls: )?((?:CREATE (?:TEMPORARY )?TABLE|INSERT INTO) .*(?:[(;`]|WITH|SELECT).*)")
ENDS = {"000": ("", "Note"), "001": ("```", "`")}
"""Lines behind an example; one of page 004 is a line."""


def examples() -> Iterator[tuple[str, int, str]]:
    """Page, line and text of each example."""
    for file in sorted(REFERENCE.glob("00*.txt")):
        page, lines = file.name[:3], file.read_text("utf-8").splitlines()
        for number, line in enumerate(lines, start=1):
            match = START.match(line)
            if match is None or (page, number) in TEMPLATES or line.endswith("INTO`"):
                continue
            ends = ENDS.get(page, ())
            others = takewhile(lambda other, ends=ends: other.strip() not in ends, lines[number:] if ends else [])
            yield page, number, match[1] if match[1].endswith(";") else "\n".join([match[1], *others])


def complete(text: str) -> str:
    """Remove the dots that stand for what an example leaves out, and end comments whose lines the page has joined."""
    text = re.sub(r"(--[\w ]+) (?='properties|\))", r"\1\n", text)
    return re.sub(r"\.\.\.,?", "", re.sub(r",\s*\.\.\.\s*(?=\))", "\n", text))


EXAMPLES = list(examples())


def test_examples_are_found():
    if not REFERENCE.exists():
        pytest.skip(f"there is no reference at {REFERENCE}")
    assert len(EXAMPLES) >= 30
    assert {page for page, _, _ in EXAMPLES} == {"000", "001", "004"}


@pytest.mark.parametrize(
    ("page", "line", "text"), [pytest.param(*each, id=f"{each[0]}:{each[1]}") for each in EXAMPLES]
)
def test_example(page: str, line: int, text: str):
    if (page, line) in ALTERNATIVES:
        with pytest.raises(SqlSyntaxError, match=r"expected each option once, but `scan.startup.mode` is repeated"):
            parse(complete(text))
        return
    statements = parse(complete(text))
    assert statements
    assert parse(";\n".join(map(render, statements))) == statements
