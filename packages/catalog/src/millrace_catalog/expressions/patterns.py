"""Patterns of LIKE and SIMILAR TO, as Spark takes them."""

from __future__ import annotations

_SPECIAL = frozenset(r"\.$")
"""Characters of Java's regular expressions that mean themselves in SIMILAR TO."""

_CLASSES = {
    "ALPHA": "\\p{Alpha}",
    "UPPER": "\\p{Upper}",
    "LOWER": "\\p{Lower}",
    "DIGIT": "\\d",
    "SPACE": " ",
    "WHITESPACE": "\\s",
    "ALNUM": "\\p{Alnum}",
}


def like_pattern(pattern: str) -> str:
    """Return a pattern of LIKE without ESCAPE, in which a backslash is a character like others, for Spark's LIKE."""
    return pattern.replace("\\", "\\\\")


def similar_pattern(pattern: str, escape: str | None = None) -> str:
    r"""Return the regular expression of Java that means the same as a pattern of SIMILAR TO.

    ``%`` stands for any characters, ``_`` for one; ``| * + ? {n} ( ) [ ]`` are those of regular expressions, and a
    class within brackets is written ``[:ALPHA:]``.

    Raises:
        ValueError: The pattern is none.
    """
    if escape is not None and len(escape) != 1:
        raise ValueError(f"ESCAPE takes one character, not {escape!r}")
    made, index = [], 0
    while index < len(pattern):
        character = pattern[index]
        if character == escape:
            index += 1
            if index == len(pattern):
                raise ValueError(f"the pattern {pattern!r} ends with its escape character")
            made.append("\\" + pattern[index] if not pattern[index].isalnum() else pattern[index])
        elif character == "[":
            end, text = _bracket(pattern, index)
            made.append(text)
            index = end
        else:
            made.append({"%": "(?s:.*)", "_": "(?s:.)"}.get(character) or _plain(character))
        index += 1
    return f"^(?:{''.join(made)})$"


def _plain(character: str) -> str:
    return "\\" + character if character in _SPECIAL else character


def _bracket(pattern: str, start: int) -> tuple[int, str]:
    """Return the end of a list between brackets, and the list in Java's spelling."""
    index, made = start + 1, "["
    while index < len(pattern):
        if pattern.startswith("[:", index):
            end = pattern.find(":]", index)
            name = pattern[index + 2 : end].upper() if end > 0 else ""
            if name not in _CLASSES:
                raise ValueError(f"the pattern {pattern!r} has a class that is none of {', '.join(_CLASSES)}")
            made += _CLASSES[name]
            index = end + 2
        elif pattern[index] == "]":
            return index, made + "]"
        else:
            made += "\\" + pattern[index] if pattern[index] in "\\[&" else pattern[index]
            index += 1
    raise ValueError(f"the pattern {pattern!r} has a bracket that is not closed")
