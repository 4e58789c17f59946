"""The reference's functions of JSON, by Spark's variants, which know the kind of each value and sort names of objects.

A path is strict unless it begins with ``lax``. Whatever has no such value, even a text that is no JSON, is an error of
a strict path, and empty for a lax one, so that only one of ON ERROR and ON EMPTY applies.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from millrace_catalog.expressions.function import Sql
from millrace_catalog.expressions.value_types import is_integer, kind_of

_PATH = re.compile(r"'(?:(lax|strict)\s+)?(\$(?:\.[\w-]+|\[\d+\]|\[''[^'\[\]]+''\])*)'", re.IGNORECASE)
_RETURNED = {"BOOLEAN", "INT", "INTEGER", "BIGINT", "DOUBLE", "STRING", "VARCHAR"}
_KINDS = {"VALUE": "", "OBJECT": r"^\\{", "ARRAY": r"^\\[", "SCALAR": r"^[^{\\[]"}
_SCALAR = r"^[^{\\[n]"
"""First characters of the JSON of a text, a number or a boolean."""

_NESTED = r"^[{\\[]"
_WRONG_TIMES = ("DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ")


@dataclass(frozen=True)
class JsonPath:
    """A path.

    Attributes:
        steps: The path as Spark takes it, in the quotes of a text.
        is_lax: Whether what is not there is no error.
    """

    steps: str
    is_lax: bool

    @classmethod
    def of(cls, function: str, text: str) -> JsonPath:
        """Return the path that a text in SQL names.

        Raises:
            ValueError: It has no counterpart in Spark.
        """
        match = _PATH.fullmatch(text)
        if match is None:
            raise ValueError(
                f"the path {text} of {function} has no exact counterpart in Spark: write '$.name' or '$[0]', and so on"
            )
        # Spark joins two texts side by side where the standard has an escaped quote
        return cls(match[2].replace("''", "\\'"), (match[1] or "").upper() == "LAX")


@dataclass(frozen=True)
class Fallbacks:
    """Values that a function returns in place of another.

    Attributes:
        on_empty: The expression where a lax path leads to nothing; None for NULL.
        on_error: The expression where there is no such value; None for NULL.
    """

    on_empty: str | None = None
    on_error: str | None = None


def failure(function: str, path: str, reason: str) -> str:
    """Return an expression that fails, for ERROR ON EMPTY and ERROR ON ERROR."""
    shown = path.replace("'", "").replace("\\", "")
    return f"raise_error('{function}: {reason} at {shown}')"


def is_json(value: str, kind: str, *, negated: bool = False) -> str:
    """Return ``value IS [NOT] JSON kind``; of NULL it is false, and its negation true.

    Args:
        value: A text.
        kind: VALUE, OBJECT, ARRAY or SCALAR.
        negated: Whether NOT stands before JSON.
    """
    pattern = _KINDS[kind]
    parsed = f"try_parse_json({value})"
    test = f"COALESCE(to_json({parsed}) RLIKE '{pattern}', FALSE)" if pattern else f"({parsed} IS NOT NULL)"
    return f"(NOT {test})" if negated else test


def json_value(value: str, path: JsonPath, fallbacks: Fallbacks, returned: str = "", *, is_spark: bool = False) -> str:
    """Return JSON_VALUE: the scalar at a path as a text, or as the type that it returns.

    Raises:
        ValueError: The type cannot be returned.
    """
    returned = returned.upper()
    if returned and returned not in _RETURNED:
        raise ValueError(f"JSON_VALUE cannot return {returned}: write CAST(JSON_VALUE(x, path) AS type)")
    json, text = _json(value, path), f"get_json_object({value}, '{path.steps}')"
    # The reference keeps the digits of a number; Spark's text has those of a DOUBLE, its variant no zeros at the end
    digits = f"if({text} RLIKE '[.E]' AND NOT contains({json}, '.'), concat({json}, '.0'), {json})"
    number = "" if is_spark or returned else f"WHEN {json} RLIKE '^-?[0-9]' THEN {digits} "
    scalar = f"CASE {number}WHEN {json} RLIKE '{_SCALAR}' THEN {text} END"
    scalar = f"({scalar})" if returned in {"", "STRING", "VARCHAR"} else f"TRY_CAST(({scalar}) AS {returned})"
    return _or_else(scalar, value, path, fallbacks)


def json_query(value: str, path: JsonPath, fallbacks: Fallbacks, wrapper: str = "") -> str:
    """Return JSON_QUERY: the object or array at a path as a text; within an array where a wrapper is asked for.

    Args:
        value: A text.
        path: The path.
        fallbacks: What there is in place of a value.
        wrapper: CONDITIONAL, UNCONDITIONAL, or empty for none.
    """
    json = _json(value, path)
    nested = f"CASE WHEN {json} RLIKE '{_NESTED}' THEN {json} END"
    if wrapper:
        whole = f"concat('[', {json}, ']')"
        array_case = f"WHEN {json} LIKE '[%' THEN {json} " if wrapper == "CONDITIONAL" else ""
        nested = f"CASE {array_case}WHEN {json} <> 'null' THEN {whole} END"
    return _or_else(f"({nested})", value, path, fallbacks)


def json_exists(value: str, path: JsonPath, on_error: str) -> str:
    """Return JSON_EXISTS: whether there is a value other than null at a path."""
    has_value = f"{_json(value, path)} <> 'null'"
    other = "FALSE" if path.is_lax else on_error
    return f"CASE WHEN ({value}) IS NULL THEN NULL WHEN {has_value} THEN TRUE ELSE {other} END"


def json_text(value: Sql) -> str:
    """Return a value as JSON, NULL for NULL.

    Raises:
        ValueError: The reference has no JSON for its type, or another one than Spark.
    """
    if kind_of(value.type) in _WRONG_TIMES:
        raise ValueError(f"{value} is a {kind_of(value.type)}, which has no JSON here: write CAST({value} AS STRING)")
    if is_integer(value.type) or kind_of(value.type) == "BOOLEAN":
        return f"CAST({value} AS STRING)"
    whole = f"to_json(named_struct('v', {value}), map('ignoreNullFields', 'false'))"
    return f"CASE WHEN ({value}) IS NOT NULL THEN substring({whole}, 6, length({whole}) - 6) END"


def json_object(pairs: Sequence[tuple[str, str]], *, keeps_null: bool) -> str:
    """Return JSON_OBJECT of names, as they are, and values in JSON: sorted by names, with the last value of each."""
    parts = []
    for name, value in sorted(dict(pairs).items()):
        escaped = name.replace("\\", "\\\\\\\\").replace('"', '\\\\"').replace("'", "\\'")
        part = f"COALESCE({value}, 'null')" if keeps_null else value
        parts.append(f"concat('\"{escaped}\":', {part})")
    return f"concat('{{', concat_ws(',', {', '.join(parts)}), '}}')" if parts else "'{}'"


def json_array(values: Sequence[str], *, keeps_null: bool) -> str:
    """Return JSON_ARRAY of values in JSON."""
    parts = [f"COALESCE({value}, 'null')" if keeps_null else value for value in values]
    return f"concat('[', concat_ws(',', {', '.join(parts)}), ']')" if parts else "'[]'"


def _json(value: str, path: JsonPath) -> str:
    """Return the JSON of what stands at a path: NULL for nothing, ``null`` for null."""
    return f"to_json(try_variant_get(try_parse_json({value}), '{path.steps}', 'variant'))"


def _or_else(expression: str, value: str, path: JsonPath, fallbacks: Fallbacks) -> str:
    """Return a value, or what there is in its place; NULL for a text that is NULL."""
    fallback = fallbacks.on_empty if path.is_lax else fallbacks.on_error
    if fallback is None:
        return expression
    return f"CASE WHEN ({value}) IS NOT NULL THEN COALESCE({expression}, {fallback}) END"
