"""The SQL examples of the reference's pages, by page and line."""

from __future__ import annotations

import pytest

from millrace_sql.errors import SqlSyntaxError
from millrace_sql.parser import parse
from millrace_sql.render import render
from support.reference_sql import ALTERNATIVES, complete, examples

EXAMPLES = list(examples())

pytestmark = pytest.mark.cases


def test_examples_are_found():
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
