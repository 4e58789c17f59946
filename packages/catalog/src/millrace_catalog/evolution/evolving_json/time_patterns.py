"""Recognize dates and timestamps of a whole column at once; the exact `time_text_reader` decides about the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from millrace_catalog.types import Scalar

# All days except February 29th, of years in which no time zone offset leads to a year that does not exist
_IN_YEAR = r"((0[13-9]|1[0-2])-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8])|(0[13578]|1[02])-31)"
_DAY = rf"[1-8][0-9]{{3}}-{_IN_YEAR}"
_HOUR = r"([01][0-9]|2[0-3])"
_ZONE = rf"(Z|[+-]{_HOUR}(:?[0-5][0-9])?)"


def uncertain_times(type_: Scalar, *, iso: bool) -> Callable[[list[Any]], list[str]]:
    """Return a function that keeps the texts of a column that may not be of its type.

    Args:
        type_: DATE, TIMESTAMP or TIMESTAMP_LTZ.
        iso: Whether date and time are separated by ``T``, else by a space.
    """
    pattern = f"^{_DAY if type_.kind == 'DATE' else _timestamp(type_, iso=iso)}$"

    def uncertain(values: list[Any]) -> list[str]:
        texts = pa.array(values, pa.string())
        return texts.filter(pc.invert(pc.match_substring_regex(texts, pattern))).to_pylist()

    return uncertain


def _timestamp(type_: Scalar, *, iso: bool) -> str:
    zone = f"{_ZONE}?" if type_.kind == "TIMESTAMP_LTZ" else ""
    return rf"{_DAY}{'T' if iso else ' '}{_HOUR}:[0-5][0-9]:[0-5][0-9](\.[0-9]{{1,{type_.size or 0}}})?{zone}"
