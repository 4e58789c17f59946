"""Names of enum values, and the range of timestamps."""

from __future__ import annotations

from google.protobuf.descriptor import EnumDescriptor

from millrace_formats.shared.sql_times import FIRST_MICROSECOND, LAST_MICROSECOND

MICROS = 1_000_000
FIRST_SECOND = FIRST_MICROSECOND // MICROS
LAST_SECOND = LAST_MICROSECOND // MICROS
LAST_NANO = 999_999_999


def microseconds(seconds: int, nanos: int) -> int:
    """Return microseconds since 1970, finer digits cut off; ValueError for a timestamp that protobuf does not allow."""
    if not FIRST_SECOND <= seconds <= LAST_SECOND:
        raise ValueError("outside the years 0001 to 9999")
    if not 0 <= nanos <= LAST_NANO:
        raise ValueError(f"whose nanos are {nanos}, expected 0 to {LAST_NANO}")
    return seconds * MICROS + nanos // 1000


UNRECOGNIZED = "UNRECOGNIZED"
"""The name of numbers without a name, as in the reference."""


def names_by_number(enum: EnumDescriptor) -> dict[int, str]:
    """Return the name of each number; of several the one that is declared first."""
    return {value.number: value.name for value in reversed(enum.values)}


def numbers_by_name(enum: EnumDescriptor) -> dict[str, int]:
    """Return the number of each name."""
    return {value.name: value.number for value in enum.values}
