"""The types of Flink's SQL in casts, as Spark spells them."""

from __future__ import annotations

_LOCAL_ZONE = ["WITH", "LOCAL", "TIME", "ZONE"]
_WITHOUT_ZONE = ["WITHOUT", "TIME", "ZONE"]

_RENAMED = {"BYTES": "BINARY", "ROW": "STRUCT", "VARBINARY": "BINARY", "TIMESTAMP_LTZ": "TIMESTAMP", "INTEGER": "INT"}

_BEHIND_TYPES: tuple[list[str], ...] = ([], [","], [">"], [")"], ["NOT"])
_REFUSED = {
    "MULTISET": "Spark has no type MULTISET; write MAP<type, INT>",
    "RAW": "Spark has no type RAW; write BINARY",
}


def rewrite_type(words: list[str]) -> tuple[int, str] | None:
    """Return how many words from the first are replaced, and what replaces them; None to keep the first word.

    A TIMESTAMP with a precision is Flink's, which has no time zone; without one it is Spark's, as the query is Spark's.

    Args:
        words: The words of a type, in upper case, from the one in question to its end.

    Raises:
        ValueError: Spark has no such type.
    """
    first = words[0]
    precision = 3 if words[1:2] == ["("] and words[3:4] == [")"] else 0
    if first in _REFUSED and words[1:2] != [":"]:
        raise ValueError(_REFUSED[first])
    if first in {"TIME", "TIMESTAMP"}:
        return _time(first, words, precision)
    if first == "DOUBLE" and words[1:2] == ["PRECISION"]:
        return 2, "DOUBLE"
    if first == "VARCHAR" and not precision:
        return 1, "STRING"
    if first in _RENAMED and (first != "ROW" or words[1:2] == ["<"]):
        return 1 + (precision if first in {"VARBINARY", "TIMESTAMP_LTZ"} else 0), _RENAMED[first]
    return None


def _time(first: str, words: list[str], precision: int) -> tuple[int, str] | None:
    """Return the count of words of a TIME or TIMESTAMP that are replaced, and what replaces them."""
    behind = words[1 + precision :]
    if first == "TIME":
        if precision:
            return None
        if behind[:3] == _WITHOUT_ZONE:
            return 4, "TIME(0)"
        return (1, "TIME(0)") if behind[:1] in _BEHIND_TYPES else None  # else it is the name of a field
    if behind[:4] == _LOCAL_ZONE:
        return 5 + precision, "TIMESTAMP"
    if behind[:3] == _WITHOUT_ZONE:
        return 4 + precision, "TIMESTAMP_NTZ"
    return (1 + precision, "TIMESTAMP_NTZ") if precision else None
