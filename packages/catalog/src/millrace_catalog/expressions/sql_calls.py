"""Functions of Flink's SQL, as Spark spells them; refused with Spark's spelling where the two differ."""

from __future__ import annotations

from collections.abc import Callable

from millrace_catalog.expressions.json_value import rewrite_json_value

Arguments = Callable[[], list[list[str]]]
"""Return the arguments of a call, each as its words, rewritten themselves."""

_REFUSED = {
    "ARRAY[": "write array(a, b) for ARRAY[a, b]",
    "MAP[": "write map(key, value) for MAP[key, value]",
    "ROW(": "write struct(a, b) or named_struct('x', a, 'y', b) for ROW(a, b)",
    "CUMULATE_START(": "write window_start of TABLE(CUMULATE(...))",
    "JSON_ARRAY(": "write to_json(array(...))",
    "JSON_ARRAYAGG(": "write to_json(collect_list(x))",
    "JSON_EXISTS(": "write get_json_object(x, path) IS NOT NULL, which differs for a value of null",
    "JSON_OBJECT(": "write to_json(named_struct('key', value, ...))",
    "JSON_OBJECTAGG(": "write to_json(map_from_entries(collect_list(struct(key, value))))",
    "JSON_QUERY(": "write get_json_object(x, path)",
    "JSON_STRING(": "write to_json(x), which takes structs, arrays and maps",
    "SPLIT_INDEX(": "write split_part(x, delimiter, index + 1), which is empty where SPLIT_INDEX is NULL",
    "TRUNCATE(": "write floor(x, n), and ceil(x, n) for numbers below 0",
    "SHA224(": "write sha2(x, 224)",
    "SHA256(": "write sha2(x, 256)",
    "SHA384(": "write sha2(x, 384)",
    "SHA512(": "write sha2(x, 512)",
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

_RENAMED = {"TO_BASE64": "base64", "UNNEST": "explode"}


def rewrite_call(name: str, opening: str, arguments: Arguments) -> str | None:
    """Return the text that replaces a call; None to keep it.

    Args:
        name: The function, in upper case.
        opening: The character after the name: a parenthesis, or a bracket, as in ``ARRAY[1, 2]``.
        arguments: Returns its arguments.

    Raises:
        ValueError: Spark spells the call otherwise, and it cannot be rewritten; the message has the spelling.
    """
    if advice := _REFUSED.get(name + opening):
        shown = name + opening + ("...]" if opening == "[" else "...)")
        message = f"{shown} is not a function of Spark, which runs the queries: {advice}"
        raise ValueError(message)
    if opening == "[":
        return None
    if name == "PROCTIME":
        return "current_timestamp()"
    if name == "JSON_VALUE":
        return rewrite_json_value(arguments())
    if name == "TO_TIMESTAMP_LTZ":
        return _to_timestamp_ltz(arguments())
    if name == "TO_BASE64":
        return f"{_RENAMED[name]}({_joined(arguments())})"
    if name == "FROM_BASE64":
        return f"CAST(unbase64({_joined(arguments())}) AS STRING)"
    return None


def _to_timestamp_ltz(arguments: list[list[str]]) -> str | None:
    if len(arguments) != 2 or len(arguments[1]) != 1:
        return None
    number, precision = " ".join(arguments[0]), arguments[1][0]
    if precision == "3":
        return f"timestamp_millis({number})"
    if precision == "0":
        return f"timestamp_seconds({number})"
    return None


def _joined(arguments: list[list[str]]) -> str:
    return ", ".join(" ".join(words) for words in arguments)
