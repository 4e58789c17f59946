"""Calls of functions in queries, as Spark spells them; refused with Spark's spelling where there is none."""

from __future__ import annotations

from collections.abc import Callable

from millrace_catalog.expressions.function import Sql, UnknownTypeError
from millrace_catalog.expressions.functions import FUNCTIONS
from millrace_catalog.expressions.functions.aggregates import AGGREGATES
from millrace_catalog.expressions.json_value import rewrite_json_value

Arguments = Callable[[], list[list[str]]]
"""Return the arguments of a call, each as its words, rewritten themselves."""

Operands = Callable[[frozenset[str]], list[Sql]]
"""Return the arguments of a call, rewritten themselves; the words given separate them as commas do."""

_REFUSED = {
    "CUMULATE_START(": "write window_start of TABLE(CUMULATE(...))",
    "JSON_ARRAY(": "write to_json(array(...))",
    "JSON_ARRAYAGG(": "write to_json(collect_list(x))",
    "JSON_EXISTS(": "write get_json_object(x, path) IS NOT NULL, which differs for a value of null",
    "JSON_OBJECT(": "write to_json(named_struct('key', value, ...))",
    "JSON_OBJECTAGG(": "write to_json(map_from_entries(collect_list(struct(key, value))))",
    "JSON_QUERY(": "write get_json_object(x, path)",
    "JSON_STRING(": "write to_json(x), which takes structs, arrays and maps",
    "TRUNCATE(": "write floor(x, n), and ceil(x, n) for numbers below 0",
    "SOURCE_WATERMARK(": "the watermark belongs to the table: WATERMARK FOR column AS column - INTERVAL '5' SECOND",
    "CURRENT_WATERMARK(": "Spark does not expose the watermark within a query",
    "CURRENT_ROW_TIMESTAMP(": "write current_timestamp(), which is that of the micro-batch",
    "HOP_START(": "write window(ts, size, slide).start and GROUP BY window(ts, size, slide)",
    "HOP_END(": "write window(ts, size, slide).end and GROUP BY window(ts, size, slide)",
    "SESSION_START(": "write session_window(ts, gap).start and GROUP BY session_window(ts, gap)",
    "SESSION_END(": "write session_window(ts, gap).end and GROUP BY session_window(ts, gap)",
    "TUMBLE_START(": "write window(ts, size).start and GROUP BY window(ts, size)",
    "TUMBLE_END(": "write window(ts, size).end and GROUP BY window(ts, size)",
    "TUMBLE_ROWTIME(": "write window_time(window(ts, size)) and GROUP BY window(ts, size)",
    "HOP_ROWTIME(": "write window_time(window(ts, size, slide)) and GROUP BY window(ts, size, slide)",
    "SESSION_ROWTIME(": "write session_window(ts, gap).end and GROUP BY session_window(ts, gap)",
}


def rewrite_call(
    name: str, opening: str, arguments: Arguments, operands: Operands, *, is_spark: bool = False
) -> str | None:
    """Return the text that replaces a call in a query; None to keep it.

    Args:
        name: The function, in upper case.
        opening: The character after the name: a parenthesis, or a bracket, as in ``ARRAY[1, 2]``.
        arguments: Returns its arguments, each as its words.
        operands: Returns its arguments, between commas and the words that stand for them.
        is_spark: Whether a name that Spark knows means Spark's function.

    Raises:
        ValueError: Spark spells the call otherwise, and it cannot be rewritten; the message has the spelling.
    """
    if advice := _REFUSED.get(name + opening):
        shown = name + opening + ("...]" if opening == "[" else "...)")
        message = f"{shown} is not a function of Spark, which runs the queries: {advice}"
        raise ValueError(message)
    if opening == "[":
        return FUNCTIONS[name].call(name, operands(frozenset())) if name in {"ARRAY", "MAP"} else None
    if name == "JSON_VALUE":
        return rewrite_json_value(arguments(), is_spark=is_spark)
    if is_spark and name == "TO_TIMESTAMP_LTZ":
        return None
    function = AGGREGATES.get(name) or FUNCTIONS.get(name)
    if function is None or function.in_queries == "same" or (is_spark and function.in_queries == "different"):
        return None
    given = operands(function.separators)
    if not function.fewest <= len(given) <= function.most:
        return None
    try:
        return function.call(name, given)
    except UnknownTypeError:
        return None
