"""The SQL examples of the reference's pages, by page and line; none where the pages are missing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import takewhile

from millrace_sql.statements import CreateTable, Statement
from support.cases import REFERENCE

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


DEFAULTS = {"format": "json", "scan.startup.mode": "earliest-offset"}
"""Options that an example leaves out by dots."""


def complete_examples() -> dict[str, str]:
    """Texts of the examples that can run, by page and line."""
    return {f"{page}:{line}": complete(text) for page, line, text in examples() if (page, line) not in ALTERNATIVES}


def at_brokers(statement: Statement, servers: str, options: Mapping[str, Mapping[str, str]]) -> Statement:
    """Give an example's table the address of brokers, and other options in place of its own, by table."""
    if not isinstance(statement, CreateTable):
        return statement
    given = dict(statement.options)
    if "kafka" in given["connector"]:
        given["properties.bootstrap.servers"] = servers
    return replace(statement, options=given | options.get(statement.table.parts[-1], {}))
