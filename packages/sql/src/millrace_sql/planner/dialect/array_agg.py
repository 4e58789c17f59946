"""ARRAY_AGG, whose arrays have NULL too, and which is NULL without rows."""

from __future__ import annotations

from collections.abc import Callable


def array_agg(
    word: Callable[[int], str],
    closing: Callable[[int], int],
    end_of_call: Callable[[int], int],
    rewritten: Callable[[int, int], str],
    index: int,
) -> tuple[str, int] | None:
    """Return what ARRAY_AGG is in Spark, and the index behind it; None where no call begins.

    Args:
        word: Returns a token as a word in upper case.
        closing: Returns the token that closes a parenthesis.
        end_of_call: Returns the index behind a call that closes at a token, and behind its clauses.
        rewritten: Returns the text of a range of tokens.
        index: The first token.
    """
    if word(index) != "ARRAY_AGG" or word(index + 1) != "(":
        return None
    close = closing(index + 1)
    end = end_of_call(close)
    distinct = "DISTINCT " if word(index + 2) == "DISTINCT" else ""
    first = index + 2 + (word(index + 2) in {"DISTINCT", "ALL"})
    nulls = [word(close - 2), word(close - 1)]
    last = close - 2 if nulls in (["IGNORE", "NULLS"], ["RESPECT", "NULLS"]) else close
    value = rewritten(first, last)
    clauses = f" {rewritten(close + 1, end)}" if end > close + 1 else ""
    if nulls == ["IGNORE", "NULLS"]:
        arrays = f"COLLECT_LIST({distinct}{value}){clauses}"
        return f"CASE WHEN COUNT({value}){clauses} > 0 THEN {arrays} END", end
    arrays = f"TRANSFORM(COLLECT_LIST({distinct}STRUCT({value} AS v)){clauses}, e -> e.v)"
    return f"CASE WHEN COUNT(*){clauses} > 0 THEN {arrays} END", end
