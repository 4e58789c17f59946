"""Functions of texts and bytes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from millrace_catalog.expressions.function import (
    ANY_NUMBER,
    Function,
    Sql,
    first_type,
    literal_text,
    same,
    text_literal,
)
from millrace_catalog.types import BOOLEAN, BYTES, INT, STRING, ArrayType

_GROUP = re.compile(r"\\.|\[(?:\\.|[^\]])*\]|\((?!\?)|\(\?<(?![=!])", re.DOTALL)


def _trim(side: str) -> Function:
    def render(arguments: Sequence[Sql]) -> str:
        characters = f"{arguments[1]} FROM " if len(arguments) == 2 else ""
        return f"TRIM({side} {characters}{arguments[0]})" if characters else f"TRIM({side} FROM {arguments[0]})"

    return Function(1, 2, render, STRING)


def _regexp_replace(arguments: Sequence[Sql]) -> str:
    """Return a call whose replacement is taken as it is, not as a pattern with groups."""
    text, pattern, replacement = arguments
    value = literal_text(replacement)
    if value is None:
        escaped = f"replace(replace({replacement}, '\\\\', '\\\\\\\\'), '$', '\\\\$')"
    else:
        escaped = text_literal(value.replace("\\", "\\\\").replace("$", "\\$"))
    return f"regexp_replace({text}, {pattern}, {escaped})"


def _regexp_extract(arguments: Sequence[Sql]) -> str:
    """Return a call that is NULL without a match, and whose group is the whole match unless another is named."""
    text, pattern, group = (*arguments, "0")[:3]
    literal = literal_text(pattern)
    if literal is not None and group.isdigit() and int(group) > _count_groups(literal):
        return "CAST(NULL AS STRING)"
    return f"if(regexp_like({text}, {pattern}), regexp_extract({text}, {pattern}, {group}), NULL)"


def _count_groups(pattern: str) -> int:
    return sum(match[0].startswith("(") for match in _GROUP.finditer(pattern))


def _overlay(arguments: Sequence[Sql]) -> str:
    text, _, start = arguments[:3]
    return f"if({start} < 1 OR {start} > length({text}), {text}, overlay({', '.join(arguments)}))"


def _sha(bits: int) -> Function:
    return Function(1, 1, lambda arguments: f"sha2({arguments[0]}, {bits})", STRING, "respelt")


def _split_index(arguments: Sequence[Sql]) -> str:
    """Return the part of a text at an index, from 0; Spark's delimiter is a regular expression."""
    text, delimiter, index = arguments
    value = chr(int(delimiter)) if delimiter.isdigit() else literal_text(delimiter)
    quoted = f"concat('\\\\Q', {delimiter}, '\\\\E')" if value is None else text_literal(f"\\Q{value}\\E")
    return f"get(split({text}, {quoted}), {index})"


def _str_to_map(arguments: Sequence[Sql]) -> str:
    text, pairs, values = (*arguments, *("','", "'='")[len(arguments) - 1 :])[:3]
    return f"str_to_map({text}, {pairs}, {values})"


_CHAR_LENGTH = same("length", 1, 1, INT, in_queries="respelt")
_FROM_BASE64 = Function(1, 1, lambda arguments: f"CAST(unbase64({arguments[0]}) AS STRING)", STRING, "respelt")
_SUBSTRING = same("substring", 2, 3, first_type, in_queries="respelt", separators=("FROM", "FOR"))

TEXTS: dict[str, Function] = {
    "BTRIM": _trim("BOTH"),
    "CHARACTER_LENGTH": _CHAR_LENGTH,
    "CHAR_LENGTH": _CHAR_LENGTH,
    "CONCAT": same("concat", 1, ANY_NUMBER, STRING),
    "CONCAT_WS": same("concat_ws", 2, ANY_NUMBER, STRING),
    "ENDSWITH": same("endswith", 2, 2, BOOLEAN),
    "FROM_BASE64": _FROM_BASE64,
    "FROM_BASE64_BINARY": Function(1, 1, lambda arguments: f"unbase64({arguments[0]})", BYTES, "respelt"),
    "INSTR": same("instr", 2, 2, INT),
    "LEFT": same("left", 2, 2, STRING),
    "LOCATE": same("locate", 2, 3, INT),
    "LOWER": same("lower", 1, 1, STRING),
    "LPAD": same("lpad", 3, 3, STRING),
    "LTRIM": _trim("LEADING"),
    "OVERLAY": Function(3, 4, _overlay, first_type, separators=frozenset({"PLACING", "FROM", "FOR"})),
    "POSITION": same("locate", 2, 3, INT, separators=("IN", "FROM")),
    "REGEXP_COUNT": same("regexp_count", 2, 2, INT),
    "REGEXP_EXTRACT": Function(2, 3, _regexp_extract, STRING, "different"),
    "REGEXP_EXTRACT_ALL": same("regexp_extract_all", 2, 3, ArrayType(STRING)),
    "REGEXP_INSTR": same("regexp_instr", 2, 2, INT),
    "REGEXP_REPLACE": Function(3, 3, _regexp_replace, STRING, "different"),
    "REGEXP_SUBSTR": same("regexp_substr", 2, 2, STRING),
    "REPEAT": same("repeat", 2, 2, STRING),
    "REPLACE": same("replace", 3, 3, STRING),
    "RIGHT": same("right", 2, 2, STRING),
    "RPAD": same("rpad", 3, 3, STRING),
    "RTRIM": _trim("TRAILING"),
    **{f"SHA{bits}": _sha(bits) for bits in (224, 256, 384, 512)},
    "SPLIT_INDEX": Function(3, 3, _split_index, STRING, "respelt"),
    "STARTSWITH": same("startswith", 2, 2, BOOLEAN),
    "STR_TO_MAP": Function(1, 3, _str_to_map, None, "different"),
    "SUBSTR": _SUBSTRING,
    "SUBSTRING": _SUBSTRING,
    "TO_BASE64": Function(1, 1, lambda arguments: f"base64({arguments[0]})", STRING, "respelt"),
    "UPPER": same("upper", 1, 1, STRING),
}
