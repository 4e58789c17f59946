"""The names and numbers of an enum's values."""

from __future__ import annotations

from google.protobuf.descriptor import EnumDescriptor

UNRECOGNIZED = "UNRECOGNIZED"
"""What a number without a name is read as, as in the reference."""


def names_by_number(enum: EnumDescriptor) -> dict[int, str]:
    """The name of each number; of several the one that is declared first."""
    return {value.number: value.name for value in reversed(enum.values)}


def numbers_by_name(enum: EnumDescriptor) -> dict[str, int]:
    """The number of each name."""
    return {value.name: value.number for value in enum.values}
