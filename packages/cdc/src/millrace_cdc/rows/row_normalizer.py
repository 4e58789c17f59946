"""Rows that already fit the columns of their table: decoded, checked and encoded again by msgspec.

Most rows do. The check is stricter than inference, never more lenient: inference reads the rows that it refuses, and
may find that they fit. `tests/properties/test_fast_parser.py` compares the two.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from operator import attrgetter
from typing import Annotated, Any

import msgspec

from millrace.unavailable_values import is_placeholder
from millrace_catalog.inference.options import FormatOptions
from millrace_catalog.types import ArrayType, DataType, ScalarType, parse_schema
from millrace_catalog.types.model import MAX_LENGTH
from millrace_cdc.rows.compiled_readers import NULL, row_class

Row = bytes | msgspec.Raw
Check = Callable[[Any], bool]
"""A test that the value of a column fits it."""

_INTEGER_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_MAX_EXACT = (1 << 53) - 1
"""The largest whole number up to which DOUBLE has them all: a narrower column of the sink may need its digits."""

# Without February 29th, the last day of years that have it, and years in which a time zone leads to a year without
# four digits: inference reads these
_DAY = (
    r"(?!0000|0001|9999)[0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
    r"|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
)
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
_ZONE = r"(?:Z|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?)"
_MICROSECONDS = 6
_BASE64 = r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"
_MAX_FLOAT_TEXT = len("-1234567.9")
"""The longest text of a number without an exponent that has no more digits than a FLOAT keeps."""

_encode = msgspec.json.Encoder().encode


class RowNormalizer:
    """Rewrites rows so that they have all columns of their table, in order.

    Args:
        decode: Decodes a row; raises `msgspec.MsgspecError` or UnicodeDecodeError for one that does not fit.
        checks: By attribute of decoded rows, further tests that values fit.
    """

    def __init__(self, decode: Callable[[Row], Any], checks: dict[str, Check]) -> None:
        self._decode = decode
        self._checks = [(attrgetter(name), check) for name, check in checks.items()]

    def normalize(self, row: Row) -> bytes:
        """Return a row with all columns in order, as `row_converter` makes it.

        Raises:
            MsgspecError: It may not fit.
            UnicodeDecodeError: It may not fit.
        """
        decoded = self._decode(row)
        for value_of, fits in self._checks:
            if not fits(value_of(decoded)):
                raise msgspec.ValidationError("a value may not fit its column")
        return _encode(decoded)


@functools.lru_cache(maxsize=4096)
def row_normalizer(columns: str, options: FormatOptions) -> RowNormalizer | None:
    """Return the normalizer of a table's rows; None if its columns have types that need inference.

    Args:
        columns: The columns, as SQL.
        options: Options of inference.
    """
    fields = []
    checks: dict[str, Check] = {}
    for index, column in enumerate(parse_schema(columns)):
        type_ = _python_type(column.type, iso=options.iso)
        if type_ is None:
            return None
        fields.append((column.name, type_, NULL if type_ is msgspec.Raw else None))
        check = _check(column.type)
        if check is not None:
            checks[f"f{index}"] = check
    row = row_class(fields, forbids_others=True)
    return None if row is None else RowNormalizer(msgspec.json.Decoder(row).decode, checks)


def _python_type(type_: DataType, *, iso: bool) -> Any:
    """Return the type of the values that fit a column; None where that needs inference."""
    if isinstance(type_, ScalarType) and type_.kind == "DECIMAL":
        return msgspec.Raw
    value_type = _value_type(type_, iso=iso)
    return value_type | None if value_type is not None and type_.nullable else value_type


def _value_type(type_: DataType, *, iso: bool) -> Any:
    if isinstance(type_, ArrayType):
        if isinstance(type_.element, ScalarType) and _check(type_.element) is not None:
            return None
        element = _python_type(type_.element, iso=iso)
        return None if element is None else list.__class_getitem__(element)
    if not isinstance(type_, ScalarType):
        return None
    if type_.kind in _INTEGER_BITS:
        limit = 1 << _INTEGER_BITS[type_.kind] - 1
        return Annotated[int, msgspec.Meta(ge=-limit, le=limit - 1)]
    if type_.kind in ("CHAR", "VARCHAR"):
        return Annotated[str, msgspec.Meta(max_length=type_.size)]
    if type_.kind in ("BINARY", "VARBINARY"):
        whole = None if type_.size == MAX_LENGTH else (type_.size or 0) // 3 * 4
        return Annotated[str, msgspec.Meta(pattern=rf"\A{_BASE64}\Z", max_length=whole)]
    # The texts of times in ISO-8601 are written in another form
    return _VALUES.get(type_.kind) or (None if iso else _time_type(type_))


def _time_type(type_: ScalarType) -> Any:
    if type_.kind == "DATE":
        return Annotated[str, msgspec.Meta(pattern=rf"\A{_DAY}\Z")]
    if type_.kind not in ("TIME", "TIMESTAMP", "TIMESTAMP_LTZ") or type_.size is None:
        return None
    digits = min(type_.size, _MICROSECONDS)
    fraction = rf"(?:\.[0-9]{{1,{digits}}})?" if digits else ""
    day = "" if type_.kind == "TIME" else f"{_DAY} "
    zone = _ZONE if type_.kind == "TIMESTAMP_LTZ" else ""
    return Annotated[str, msgspec.Meta(pattern=rf"\A{day}{_TIME}{fraction}{zone}\Z")]


def _check(type_: DataType) -> Check | None:
    """Return a test of a column's values, where their type for msgspec accepts others too."""
    if isinstance(type_, ArrayType):
        # A value that Debezium does not have looks like one
        return lambda value: not is_placeholder(value)
    if not isinstance(type_, ScalarType):
        return None
    if type_.kind == "FLOAT":
        return lambda value: value is None or (len(repr(value)) <= _MAX_FLOAT_TEXT and "e" not in repr(value))
    if type_.kind != "DECIMAL":
        return None
    scale = type_.scale or 0
    whole = (type_.size or 0) - scale
    before = rf"(?:0|[1-9][0-9]{{0,{whole - 1}}})" if whole else "0"
    pattern = rf"-?{before}(?:\.[0-9]{{1,{scale}}})?" if scale else rf"-?{before}"
    fits = re.compile(f"{pattern}|null" if type_.nullable else pattern, re.ASCII).fullmatch
    return lambda value: fits(str(value, "ascii")) is not None


_VALUES: dict[str, Any] = {
    "STRING": str,
    "BOOLEAN": bool,
    "FLOAT": float,
    "DOUBLE": Annotated[float, msgspec.Meta(ge=-_MAX_EXACT, le=_MAX_EXACT)],
}
