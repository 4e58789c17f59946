"""Compile regular expressions in Java's syntax."""

from __future__ import annotations

import functools
import re

import regex

_QUOTED = re.compile(r"\\Q(.*?)(?:\\E|\Z)", re.DOTALL)
_NAMED_REFERENCE = re.compile(r"\\k<(\w+)>")


@functools.lru_cache(maxsize=16)
def java_pattern(text: str) -> regex.Pattern[str]:
    r"""Compile a pattern that matches as in Java (``java.util.regex.Pattern``).

    The library ``regex`` in version 1 has Java's nested classes, intersections by ``&&`` and properties such as
    ``\p{Alpha}``, which Python's own lacks. Quotations and references by name are translated.

    Raises:
        ValueError: It is no regular expression; the message names the mistake and its position.
    """
    quoted = _QUOTED.sub(lambda match: regex.escape(match[1]), text)
    try:
        return regex.compile(_NAMED_REFERENCE.sub(r"(?P=\1)", quoted), regex.VERSION1)
    except regex.error as error:
        raise ValueError(f"expected a regular expression: {error}") from error
