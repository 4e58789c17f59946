"""The SQL examples of the reference's pages, by page and line; none where the pages are missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

REFERENCE = Path(__file__).parents[3] / "shared" / "reference"

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
