"""Calls of functions in queries, as Spark spells them; refused with Spark's spelling where there is none."""

from __future__ import annotations

from collections.abc import Callable

from millrace_catalog.expressions.function import Sql, UnknownTypeError
from millrace_catalog.expressions.functions import FUNCTIONS
from millrace_catalog.expressions.functions.aggregates import AGGREGATES
from millrace_catalog.expressions.functions.queries import QUERIES
from millrace_catalog.expressions.functions.time_rounding import round_time

_ROUNDED = ("CEIL", "CEILING", "FLOOR")

Arguments = Callable[[], list[list[str]]]
"""Return the arguments of a call, each as its words, rewritten themselves."""

Operands = Callable[[frozenset[str]], list[Sql]]
"""Return the arguments of a call, rewritten themselves; the words given separate them as commas do."""

_OLD_WINDOW = "it belongs to GROUP BY {0}(ts, ...), which takes the same arguments, and the query has no such group"
_REFUSED = {
    "CUMULATE_START(": "write window_start of TABLE(CUMULATE(...))",
    "JSON_ARRAYAGG(": "write to_json(collect_list(x))",
    "JSON_OBJECTAGG(": "write to_json(map_from_entries(collect_list(struct(key, value))))",
    "SOURCE_WATERMARK(": "the watermark belongs to the table: WATERMARK FOR column AS column - INTERVAL '5' SECOND",
    "CURRENT_WATERMARK(": "Spark does not expose the watermark within a query",
    **{
        f"{window}_{part}(": _OLD_WINDOW.format(window)
        for window in ("TUMBLE", "HOP", "SESSION")
        for part in ("START", "END", "ROWTIME", "PROCTIME")
    },
}


def rewrite_call(
    name: str,
    opening: str,
    arguments: Arguments,
    operands: Operands,
    *,
    is_spark: bool = False,
    is_typed: bool = False,
) -> str | None:
    """Return the text that replaces a call in a query; None to keep it.

    Args:
        name: The function, in upper case.
        opening: The character after the name: a parenthesis, or a bracket, as in ``ARRAY[1, 2]``.
        arguments: Returns its arguments, each as its words.
        operands: Returns its arguments, between commas and the words that stand for them.
        is_spark: Whether a name that Spark knows means Spark's function.
        is_typed: Whether types of arguments were looked up.

    Raises:
        ValueError: Spark spells the call otherwise, and it cannot be rewritten; the message has the spelling.
    """
    if advice := _REFUSED.get(name + opening):
        shown = name + opening + ("...]" if opening == "[" else "...)")
        message = f"{shown} is not a function of Spark, which runs the queries: {advice}"
        raise ValueError(message)
    if opening == "[":
        return FUNCTIONS[name].call(name, operands(frozenset())) if name in {"ARRAY", "MAP"} else None
    if name in _ROUNDED and "TO" in map(str.upper, (arguments() or [[]])[0]):
        value, unit = operands(frozenset({"TO"}))
        return _typed(lambda: round_time(name, value, unit), is_typed=is_typed)
    if is_spark and name == "TO_TIMESTAMP_LTZ":
        return None
    function = AGGREGATES.get(name) or QUERIES.get(name) or FUNCTIONS.get(name)
    if function is None or function.in_queries == "same" or (is_spark and function.in_queries == "different"):
        return None
    call_arguments = operands(function.separators)
    if not function.fewest <= len(call_arguments) <= function.most:
        return None
    return _typed(lambda: function.call(name, call_arguments), is_typed=is_typed and function.in_queries == "respelt")


def _typed(call: Callable[[], str], *, is_typed: bool) -> str | None:
    """Return a call; None where its meaning depends on a type that is not looked up yet."""
    try:
        return call()
    except UnknownTypeError:
        if is_typed:
            raise
        return None
