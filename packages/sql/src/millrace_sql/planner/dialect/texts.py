"""Texts of a query that Spark writes otherwise: those with a quote within, and patterns of SIMILAR TO."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot.tokens import Token

from millrace_catalog.expressions.function import literal_text, text_literal
from millrace_catalog.expressions.patterns import similar_pattern


def text_with_quotes(text: str, tokens: list[Token], index: int) -> tuple[str, int] | None:
    """Return a text with doubled quotes within, which sqlglot takes for several, and the index behind it."""
    end = index + 1
    while end < len(tokens) and text[tokens[end - 1].end : tokens[end].start + 1] == "''":
        end += 1
    if end == index + 1 or text[tokens[index].start] != "'":
        return None
    parts = [text[token.start + 1 : token.end] for token in tokens[index:end]]
    return "\\'".join(parts).join("''"), end


def similar_to(word: Callable[[int], str], source: Callable[[int], str], index: int) -> tuple[str, int] | None:
    """Return SIMILAR TO as RLIKE, and the index behind it; None for another token.

    Raises:
        ValueError: The pattern has no counterpart.
    """
    if word(index).split() != ["SIMILAR", "TO"]:
        return None
    end = index + (4 if word(index + 2) == "ESCAPE" else 2)
    texts = [literal_text(source(step)) for step in range(index + 1, end, 2)]
    if None in texts:
        raise ValueError("SIMILAR TO takes a pattern that is a text: write RLIKE and a regular expression")
    return f"RLIKE {text_literal(similar_pattern(*(str(text) for text in texts)))}", end
