"""Rows that already fit the columns of their table: decoded, checked and encoded again by msgspec.

Most rows do. The check is stricter than inference, never more lenient: inference reads the rows that it refuses, and
may find that they fit. `tests/properties/test_fast_parser.py` compares the two.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Any

import msgspec

from millrace_catalog.inference.options import FormatOptions
from millrace_catalog.types import Array, DataType, parse_schema

Row = bytes | msgspec.Raw
_MAX_BIGINT = (1 << 63) - 1
_MAX_EXACT = (1 << 53) - 1
"""The largest whole number up to which DOUBLE has them all: a narrower column of the sink may need its digits."""

# Without February 29th, the last day of years that have it, and years in which a time zone leads to a year without
# four digits: inference reads these
_DAY = (
    r"(?!0000|0001|9999)[0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
    r"|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
)
_TIME = r" (?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
_ZONE = r"(?:Z|[+-](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?)"
_MICROSECONDS = 6

_encode = msgspec.json.Encoder().encode


class RowNormalizer:
    """Rewrites rows so that they have all columns of their table, in order.

    Args:
        decode: Decodes a row; raises `msgspec.MsgspecError` or UnicodeDecodeError for one that does not fit.
    """

    def __init__(self, decode: Callable[[Row], Any]) -> None:
        self._decode = decode

    def normalize(self, row: Row) -> bytes:
        """Return a row with all columns in order, as `row_converter` makes it.

        Raises:
            MsgspecError: It may not fit.
            UnicodeDecodeError: It may not fit.
        """
        return _encode(self._decode(row))


@functools.lru_cache(maxsize=4096)
def row_normalizer(columns: str, options: FormatOptions) -> RowNormalizer | None:
    """Return the normalizer of a table's rows; None if its columns have types that need inference.

    Args:
        columns: The columns, as SQL.
        options: Options of inference.
    """
    fields = []
    for index, column in enumerate(parse_schema(columns)):
        type_ = _python_type(column.type, iso=options.iso)
        if type_ is None:
            return None
        fields.append((f"c{index}", type_, msgspec.field(name=column.name, default=None)))
    row = msgspec.defstruct("Row", fields, forbid_unknown_fields=True, gc=False)
    return RowNormalizer(msgspec.json.Decoder(row).decode)


def _python_type(type_: DataType, *, iso: bool) -> Any:
    """Return the type of the values that fit a column; None where that needs inference."""
    found = _value_type(type_, iso=iso)
    return found | None if found is not None and type_.nullable else found


def _value_type(type_: DataType, *, iso: bool) -> Any:
    if isinstance(type_, Array):
        element = _python_type(type_.element, iso=iso)
        return None if element is None else list.__class_getitem__(element)
    kind = getattr(type_, "kind", None)
    # The texts of times in ISO-8601 are written in another form
    return _VALUES.get(str(kind)) or (None if iso else _time_type(type_, str(kind)))


def _time_type(type_: DataType, kind: str) -> Any:
    if kind == "DATE":
        return Annotated[str, msgspec.Meta(pattern=rf"\A{_DAY}\Z")]
    if kind not in ("TIMESTAMP", "TIMESTAMP_LTZ"):
        return None
    digits = getattr(type_, "size", None)
    if digits is None or digits < _MICROSECONDS:
        return None
    zone = _ZONE if kind == "TIMESTAMP_LTZ" else ""
    return Annotated[str, msgspec.Meta(pattern=rf"\A{_DAY}{_TIME}(?:\.[0-9]{{1,{_MICROSECONDS}}})?{zone}\Z")]


_VALUES: dict[str, Any] = {
    "STRING": str,
    "BOOLEAN": bool,
    "BIGINT": Annotated[int, msgspec.Meta(ge=-_MAX_BIGINT - 1, le=_MAX_BIGINT)],
    "DOUBLE": Annotated[float, msgspec.Meta(ge=-_MAX_EXACT, le=_MAX_EXACT)],
}
