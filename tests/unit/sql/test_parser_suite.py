"""Good statements with their text as `render` writes it, and bad ones with the place and text of their error.

Each block of the files has a name, a script, and behind ``=>`` what comes of it; blanks of the former count as one.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from millrace_sql.errors import SqlSyntaxError
from millrace_sql.parser import parse
from millrace_sql.render import render


class Case(NamedTuple):
    name: str
    script: str
    expected: str


def cases(file: str) -> list[Case]:
    text = Path(__file__).with_name(file).read_text("utf-8")
    return [Case(*groups) for groups in re.findall(r"^# (.*)\n((?:.*\n)+?)=> (.*)\n\n", text, re.MULTILINE)]


GOOD = cases("good_statements.txt")
BAD = cases("bad_statements.txt")


def test_the_files_are_read_as_a_whole():
    assert len(GOOD) >= 115
    assert len(BAD) >= 115
    assert len({case.name for case in GOOD}) == len(GOOD)
    assert len({case.name for case in BAD}) == len(BAD)


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case.name)
def test_good(case: Case):
    (statement,) = parse(case.script)
    assert f"{type(statement).__name__}: {' '.join(render(statement).split())}" == case.expected
    assert parse(render(statement)) == [statement]


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.name)
def test_bad(case: Case):
    with pytest.raises(SqlSyntaxError) as caught:
        parse(case.script)
    error = caught.value
    assert f"{error.position.line}:{error.position.column} {error.message}" == case.expected
    line, caret = error.excerpt.splitlines()
    assert caret.endswith("^")
    assert line.strip(" .") in case.script or "***" in line


def test_all_good_statements_are_one_script():
    script = ";\n".join(case.script for case in GOOD)
    assert [type(each).__name__ for each in parse(script)] == [case.expected.partition(":")[0] for case in GOOD]


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case.name)
def test_a_good_statement_that_is_cut_is_good_or_a_syntax_error(case: Case):
    for end in range(len(case.script)):
        with suppress(SqlSyntaxError):
            parse(case.script[:end])
