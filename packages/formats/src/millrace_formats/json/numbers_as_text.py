"""Numbers that travel as text through a writer which would write them otherwise, and lose their quotes behind it."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

# As a writer of JSON escapes it
_MARK = "\x01"
_MARKED = re.compile(rb'"\\u0001([-+.0-9E]+)"')


def marked(texts: pa.StringArray) -> pa.StringArray:
    """Texts of numbers, marked as such."""
    return pc.binary_join_element_wise(_MARK, texts, "")


def unmarked(text: str) -> str:
    """The number's text."""
    return text.removeprefix(_MARK)


def without_quotes(text: bytes) -> tuple[bytes, int]:
    """JSON in which marked texts are numbers, and how many those are: other texts may look the same."""
    return _MARKED.subn(rb"\1", text)
