from __future__ import annotations

import pytest

from millrace_filters.expression import to_text
from millrace_filters.parse import parse


@pytest.mark.parametrize(
    "text",
    [
        "a:1",
        "!a:1&b:2|!c:3",
        "a:http://b:80/",
        r"a\:b:c",
        r"\!a:\!\&\|\(\)\\",
        r"\ a b\ :\ c d\ ",
        "a:&b:",
    ],
)
def test_the_shortest_text_is_printed_as_it_was(text: str) -> None:
    assert to_text(parse(text)) == text


def test_what_means_nothing_is_not_printed() -> None:
    assert to_text(parse(r" a : x\:y  & ! b:2 ")) == "a:x:y&!b:2"
