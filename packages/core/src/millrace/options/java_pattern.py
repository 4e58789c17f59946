"""Regular expressions as Java writes them."""

from __future__ import annotations

import functools
import re

import regex

_QUOTED = re.compile(r"\\Q(.*?)(?:\\E|\Z)", re.DOTALL)
_NAMED_REFERENCE = re.compile(r"\\k<(\w+)>")


@functools.lru_cache(maxsize=16)
def java_pattern(text: str) -> regex.Pattern[str]:
    r"""A pattern that matches what it would match in Java.

    The library's version 1 has what Java has and Python's own lacks: classes inside of classes, their intersection by
    ``&&``, and properties as ``\p{Alpha}``. Quotations and references by name are written otherwise there.

    Raises:
        ValueError: It is no regular expression; says what is wrong, and where.
    """
    quoted = _QUOTED.sub(lambda found: regex.escape(found[1]), text)
    try:
        return regex.compile(_NAMED_REFERENCE.sub(r"(?P=\1)", quoted), regex.VERSION1)
    except regex.error as error:
        raise ValueError(f"expected a regular expression: {error}") from error
