"""The functions of Flink CDC's transforms, as Spark SQL spells them.

They are those of Flink CDC's page on transforms and of its table of operators. Arguments are SQL text already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

_UNITS = ("SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "YEAR")
_ANY_NUMBER = 1_000


@dataclass(frozen=True)
class Function:
    """A function.

    Attributes:
        fewest: The least number of arguments.
        most: The largest number of arguments.
        render: Makes Spark's text of the arguments'; raises ValueError for arguments that Spark has no function for.
        takes_unit: Whether the first argument is a unit of time, such as DAY.
    """

    fewest: int
    most: int
    render: Callable[[Sequence[str]], str]
    takes_unit: bool = False

    def check(self, name: str, count: int) -> None:
        """Check the number of arguments.

        Raises:
            ValueError: It is wrong.
        """
        if self.fewest <= count <= self.most:
            return
        expected = str(self.fewest) if self.fewest == self.most else f"{self.fewest} to {self.most}"
        if self.most == _ANY_NUMBER:
            expected = f"{self.fewest} or more"
        raise ValueError(f"function {name} takes {expected} argument{'' if expected == '1' else 's'}, not {count}")


def _same(name: str, fewest: int, most: int | None = None, *, takes_unit: bool = False) -> Function:
    return Function(
        fewest,
        fewest if most is None else most,
        lambda arguments: f"{name}({', '.join(arguments)})",
        takes_unit,
    )


def _to_timestamp_ltz(arguments: Sequence[str]) -> str:
    if len(arguments) == 2 and arguments[1] in {"0", "3"}:
        return f"{'timestamp_seconds' if arguments[1] == '0' else 'timestamp_millis'}({arguments[0]})"
    if len(arguments) == 2 and arguments[1].startswith("'"):
        return f"to_timestamp_ltz({', '.join(arguments)})"
    raise ValueError(
        "TO_TIMESTAMP_LTZ takes a number and its precision, 0 or 3, or a text and its format; the time zone is that of "
        "'local-time-zone'"
    )


def _parse_json(name: str) -> Function:
    return Function(1, 1, lambda arguments: f"{name}({arguments[0]})")


_NOW = Function(0, 0, lambda _: "current_timestamp()")
_TIME = Function(0, 0, lambda _: "current_time(0)")
_CEIL = _same("ceil", 1)

FUNCTIONS: dict[str, Function] = {
    "ABS": _same("abs", 1),
    "CEIL": _CEIL,
    "CEILING": _CEIL,
    "CHARACTER_LENGTH": _same("char_length", 1),
    "CHAR_LENGTH": _same("char_length", 1),
    "COALESCE": _same("coalesce", 1, _ANY_NUMBER),
    "CONCAT": _same("concat", 1, _ANY_NUMBER),
    "CURRENT_DATE": _same("current_date", 0),
    "CURRENT_TIME": _TIME,
    "CURRENT_TIMESTAMP": _NOW,
    "DATE_ADD": Function(2, 2, lambda arguments: f"CAST(date_add({arguments[0]}, {arguments[1]}) AS STRING)"),
    "DATE_FORMAT": _same("date_format", 2),
    "FLOOR": _same("floor", 1),
    "FROM_UNIXTIME": _same("from_unixtime", 1, 2),
    "IF": _same("if", 3),
    "LOCALTIME": _TIME,
    "LOCALTIMESTAMP": _same("localtimestamp", 0),
    "LOWER": _same("lower", 1),
    "NOW": _NOW,
    "PARSE_JSON": _parse_json("parse_json"),
    "REGEXP_REPLACE": _same("regexp_replace", 3),
    "ROUND": _same("round", 1, 2),
    "SUBSTR": _same("substr", 2, 3),
    "SUBSTRING": _same("substring", 2, 3),
    "TIMESTAMPADD": _same("timestampadd", 3, takes_unit=True),
    "TIMESTAMPDIFF": _same("timestampdiff", 3, takes_unit=True),
    "TIMESTAMP_DIFF": _same("timestampdiff", 3, takes_unit=True),
    "TO_DATE": _same("to_date", 1, 2),
    "TO_TIMESTAMP": _same("to_timestamp_ntz", 1, 2),
    "TO_TIMESTAMP_LTZ": Function(1, 3, _to_timestamp_ltz),
    "TRY_PARSE_JSON": _parse_json("try_parse_json"),
    "UNIX_TIMESTAMP": _same("unix_timestamp", 0, 2),
    "UPPER": _same("upper", 1),
    "UUID": _same("uuid", 0),
}
"""The functions by their names, in upper case. CAST, TRIM and CASE have a syntax of their own."""

WITHOUT_PARENTHESES = ("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP")
"""Functions that are called without parentheses."""

OWN_SYNTAX = ("CASE", "CAST", "TRIM")
"""Functions that the grammar knows."""

REFUSED = {
    "AI_CHAT_PREDICT": "models are not supported",
    "AI_LANGCHAIN_PREDICT": "models are not supported",
    "GET_EMBEDDING": "models are not supported",
    "DATE_FORMAT_TZ": "write DATE_FORMAT, which takes the time zone of 'local-time-zone'",
}
"""Functions of Flink CDC that are not supported, with what to do."""


def check_unit(text: str) -> str:
    """Return a unit of time in upper case.

    Raises:
        ValueError: It is none.
    """
    unit = text.upper()
    if unit not in _UNITS:
        raise ValueError(f"expected a unit of time out of {', '.join(_UNITS)}, found {text!r}")
    return unit
