"""Fit the types that Canal's messages declare to their values, so that each value is read as it is.

A declared type may be too narrow: ``sqlType`` has neither the digits of a DECIMAL nor the unsigned integers of MySQL,
and MySQL stores days such as 0000-00-00 and times such as -12:00:00.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

from millrace_catalog.inference.time_texts import time_text_reader
from millrace_catalog.types import BIGINT, BOOLEAN, DOUBLE, STRING, ScalarType, decimal, least_common_type, time
from millrace_catalog.types.model import MAX_DIGITS, Kind

_INTEGER = re.compile(r"[+-]?[0-9]{1,40}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_TIME = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.([0-9]{1,9}))?")
_INTEGER_BITS: dict[Kind, int] = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_MAX_FLOAT_DIGITS = 9
_MAX_FLOAT = Decimal("3.4028235E+38")
_MAX_LATIN_1 = "\xff"


def fitting_type_reader(*, iso: bool, integers_are_booleans: bool) -> Callable[[ScalarType, Any], ScalarType]:
    """Return a function from a declared type and a value to the type that reads the value: the declared one if it does.

    Args:
        iso: Whether timestamps have a ``T`` between date and time.
        integers_are_booleans: Whether a BOOLEAN may have any number, as MySQL's TINYINT(1), else only 0 and 1.
    """
    time_type = time_text_reader(iso)

    def fit_time_text(declared: ScalarType, text: str) -> ScalarType:
        type_ = time_type(text)
        return declared if isinstance(type_, ScalarType) and _reads(declared, type_.kind) else STRING

    fits: dict[Kind, Callable[[ScalarType, str], ScalarType]] = {
        "BOOLEAN": _fit_number_or_boolean if integers_are_booleans else _fit_boolean,
        **dict.fromkeys(_INTEGER_BITS, _fit_integer),
        "DECIMAL": _fit_decimal,
        "FLOAT": _fit_float,
        "DOUBLE": _fit_float,
        "TIME": _fit_time,
        "DATE": fit_time_text,
        "TIMESTAMP": fit_time_text,
        "TIMESTAMP_LTZ": fit_time_text,
        "BINARY": _fit_binary,
        "VARBINARY": _fit_binary,
    }

    def fit(declared: ScalarType, value: Any) -> ScalarType:
        if value is None or declared.kind not in fits:
            return declared
        if isinstance(value, bool | list | dict):
            return declared if isinstance(value, bool) and declared == BOOLEAN else STRING
        return fits[declared.kind](declared, str(value))

    return fit


def _reads(declared: ScalarType, kind: Kind) -> bool:
    return kind == declared.kind or (declared.kind, kind) == ("TIMESTAMP_LTZ", "TIMESTAMP")


def _fit_boolean(declared: ScalarType, text: str) -> ScalarType:
    if text in ("0", "1") or text.lower() in ("true", "false"):
        return declared
    return _fit_integer(BIGINT, text) if _INTEGER.fullmatch(text) else STRING


def _fit_number_or_boolean(declared: ScalarType, text: str) -> ScalarType:
    return declared if _INTEGER.fullmatch(text) else _fit_boolean(declared, text)


def _fit_binary(declared: ScalarType, text: str) -> ScalarType:
    return STRING if text and max(text) > _MAX_LATIN_1 else declared


def _fit_integer(declared: ScalarType, text: str) -> ScalarType:
    if not _INTEGER.fullmatch(text):
        return _fit_decimal(declared, text)
    number, limit = int(text), 1 << _INTEGER_BITS[declared.kind] - 1
    return declared if -limit <= number < limit else _fit_decimal(declared, text)


def _fit_decimal(declared: ScalarType, text: str) -> ScalarType:
    if not _NUMBER.fullmatch(text):
        return STRING
    try:
        number = Decimal(text)
    except InvalidOperation:
        return STRING
    _, digits, exponent = number.as_tuple()
    scale = max(0, -int(exponent))
    # Zero has no digit before the point
    size = max(len(digits) + max(0, int(exponent)) if number else 0, scale)
    if size > MAX_DIGITS:
        return STRING
    if declared.kind == "DECIMAL" and declared.nullable:
        spare = (declared.scale or 0) - scale
        if spare >= 0 and (declared.size or 0) - size >= spare:
            return declared
    fitted = least_common_type(declared, decimal(max(size, 1), scale))
    return fitted if isinstance(fitted, ScalarType) else STRING


def _fit_float(declared: ScalarType, text: str) -> ScalarType:
    if not _NUMBER.fullmatch(text):
        return STRING
    number = Decimal(text)
    digits = "".join(map(str, number.as_tuple().digits)).strip("0")
    is_float = len(digits) <= _MAX_FLOAT_DIGITS and abs(number) <= _MAX_FLOAT
    return declared if declared == DOUBLE or is_float else DOUBLE


def _fit_time(declared: ScalarType, text: str) -> ScalarType:
    match = _TIME.fullmatch(text)
    if match is None:
        return STRING
    digits = len((match[1] or "").rstrip("0"))
    return declared if digits <= (declared.size or 0) else time(digits)
