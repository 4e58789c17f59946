"""The SQL of the docs is that of the parser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from millrace_sql import statements
from millrace_sql.parser import parse

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def scripts(page: Path) -> list[str]:
    return re.findall(r"^```sql\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [page for page in PAGES if scripts(page)], ids=lambda page: page.name)
def test_sql_in_docs_is_parsed(page: Path):
    for script in scripts(page):
        assert parse(script)


def test_the_page_of_statements_shows_each_one():
    shown = {type(each) for script in scripts(ROOT / "docs/sql.md") for each in parse(script)}
    assert shown == set(statements.Statement.__args__)
