"""The schema changes that a sink is to apply."""

from __future__ import annotations

from collections.abc import Iterable

from millrace.contracts import SCHEMA_CHANGES, SchemaChangeType
from millrace.options.suggestions import closest

_NOT_IF_LENIENT: frozenset[SchemaChangeType] = frozenset({"drop.table", "truncate.table"})


def schema_changes_of(tag: str) -> frozenset[SchemaChangeType]:
    """Return the types of schema changes that a tag stands for.

    It is a type, such as ``add.column``, or words of types, such as ``drop``, ``column`` or ``all``.

    Raises:
        ValueError: It stands for none.
    """
    words = tag.strip().lower().removesuffix(".event").split(".")
    if words == ["all"]:
        return frozenset(SCHEMA_CHANGES)
    types = frozenset(type_ for type_ in SCHEMA_CHANGES if _has_words(type_.split("."), words))
    if not types:
        close = closest(tag, SCHEMA_CHANGES)
        hint = f"; did you mean {close!r}?" if close else ""
        raise ValueError(f"expected words of {', '.join(SCHEMA_CHANGES)}, got {tag!r}{hint}")
    return types


def included_schema_changes(
    include: Iterable[str], exclude: Iterable[str] | None, behavior: str
) -> frozenset[SchemaChangeType]:
    """Return the types of schema changes that go to the sink.

    Args:
        include: Tags of those to include; all when there is none.
        exclude: Tags of those to exclude, which win; None when nothing is said about it.
        behavior: The pipeline's ``schema.change.behavior``: a lenient one neither drops nor empties tables where
            nothing is included or excluded.

    Raises:
        ValueError: A tag stands for no type.
    """
    included = frozenset().union(*map(schema_changes_of, include))
    if not included and exclude is None and behavior == "lenient":
        return frozenset(SCHEMA_CHANGES) - _NOT_IF_LENIENT
    return (included or frozenset(SCHEMA_CHANGES)).difference(*map(schema_changes_of, exclude or ()))


def _has_words(all_words: list[str], words: list[str]) -> bool:
    return any(all_words[start : start + len(words)] == words for start in range(len(all_words)))
