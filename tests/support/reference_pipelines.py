"""The pipelines in YAML of the reference's page, by line; none where the page is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

from support.cases import REFERENCE

_BEGIN = re.compile(r"( *)(source|transform):")
_LINE = re.compile(r" *(?:[\w.-]+:(?: .*)?|- .+|#.*)?")
_SECTION = re.compile(r"^ +(?=(?:source|sink|route|transform|pipeline):$)", re.MULTILINE)


def pipelines() -> dict[int, str]:
    """Text of each pipeline, or part of one, by the number of its first line."""
    return dict(_pipelines())


def _pipelines() -> Iterator[tuple[int, str]]:
    for file in REFERENCE.glob("000*.txt"):
        lines = file.read_text("utf-8").splitlines()
        end = 0
        for number, line in enumerate(lines):
            begin = _BEGIN.fullmatch(line)
            if begin is None or number < end:
                continue
            block = list(takewhile(_LINE.fullmatch, lines[number:]))
            end = number + len(block)
            text = "\n".join(each.removeprefix(begin[1]) for each in block).rstrip()
            # The page has lost the indentation of one section
            yield number + 1, _SECTION.sub("", text)
