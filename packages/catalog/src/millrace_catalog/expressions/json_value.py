"""JSON_VALUE, by Spark's get_json_object."""

from __future__ import annotations

import re

_PATH = re.compile(r"'(?:lax\s+)?(\$(?:\.[\w-]+|\[\d+\]|\[''[^'\[\]]+''\]|\.\"[^\"]+\")*)'", re.IGNORECASE)
_FRACTION = r"^-?[0-9]+(\\.[0-9]+([eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)$"
_INSTEAD = "write coalesce(get_json_object(x, path), value) where a default is wanted"
_RETURNED = {"BOOLEAN", "INT", "INTEGER", "BIGINT", "DOUBLE", "STRING", "VARCHAR"}


def rewrite_json_value(arguments: list[list[str]], *, is_spark: bool = False) -> str:
    """Return an expression of Spark for ``JSON_VALUE(text, path [RETURNING type] [NULL ON EMPTY] [NULL ON ERROR])``.

    It is NULL for an object or array, as in the standard; get_json_object would return its JSON. A text that begins
    like one is parsed again, as a variant, which distinguishes a text from an object.

    Raises:
        ValueError: The path or a clause has no exact counterpart.
    """
    if len(arguments) != 2 or not arguments[1]:
        raise ValueError("JSON_VALUE is written JSON_VALUE(text, 'path')")
    value, (path, *clauses) = " ".join(arguments[0]), arguments[1]
    match = _PATH.fullmatch(path)
    if match is None:
        message = (
            f"the path {path} of JSON_VALUE has no exact counterpart in Spark: write '$.name' or '$[0]', and so on"
        )
        raise ValueError(message)
    # Spark joins two texts side by side where the standard has an escaped quote
    steps = re.sub(r'\."([^"]+)"', r"[''\1'']", match[1]).replace("''", "\\'")
    text = f"get_json_object({value}, '{steps}')"
    is_text = f"schema_of_variant(try_variant_get(try_parse_json({value}), '{steps}', 'variant')) = 'STRING'"
    # The reference spells a number with a fraction as Java spells a double
    number = f"WHEN {text} RLIKE '{_FRACTION}' AND NOT {is_text} THEN CAST(CAST({text} AS DOUBLE) AS STRING) "
    returned = _returned([word.upper() for word in clauses])
    number = "" if is_spark or returned is not None else number
    scalar = f"CASE {number}WHEN {text} NOT RLIKE '^[{{\\\\[]' THEN {text} WHEN {is_text} THEN {text} END"
    return f"({scalar})" if returned is None else f"TRY_CAST(({scalar}) AS {returned})"


def _returned(clauses: list[str]) -> str | None:
    """Return the type of RETURNING, None for a text; the other clauses may only say what is the default."""
    returned = None
    if clauses[:1] == ["RETURNING"]:
        returned = clauses[1] if len(clauses) > 1 else ""
        clauses = clauses[2:]
        if returned not in _RETURNED:
            message = f"JSON_VALUE cannot return {returned or 'nothing'}: write CAST(JSON_VALUE(x, path) AS type)"
            raise ValueError(message)
    while clauses[:3] in (["NULL", "ON", "EMPTY"], ["NULL", "ON", "ERROR"]):
        clauses = clauses[3:]
    if clauses:
        message = f"JSON_VALUE with {' '.join(clauses)} has no exact counterpart in Spark: {_INSTEAD}"
        raise ValueError(message)
    return None if returned in {"STRING", "VARCHAR"} else returned
