"""The prefilter's texts of times are times by the exact rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millrace_catalog.evolution.evolving_json.fit_prefilter import uncertain_times
from millrace_catalog.evolution.type_fit import fitting_type
from millrace_catalog.inference.time_texts import time_text_reader
from millrace_catalog.types import DATE, STRING, ScalarType, timestamp, timestamp_ltz

TYPES = [DATE, timestamp(6), timestamp(9), timestamp_ltz(6), timestamp_ltz(9)]
PARTS = [
    "2020",
    "0001",
    "9999",
    "-",
    "02",
    "12",
    "28",
    "30",
    " ",
    "T",
    ":",
    "13",
    "24",
    ".",
    "123456",
    "789",
    "Z",
    "+",
    "\n",
]
DAYS = r"\A[0-9]{4}-[01][0-9]-[0-3][0-9]"
TIMES = r"[ T][0-2][0-9]:[0-6][0-9](:[0-5][0-9](\.[0-9]{1,10})?)?(Z|[+-][0-2][0-9]:?[0-6]?)?"
TEXTS = st.lists(st.sampled_from(PARTS), max_size=16).map("".join) | st.from_regex(rf"{DAYS}({TIMES})?\n?\Z")


@given(st.sampled_from(TYPES), st.booleans(), st.lists(st.none() | TEXTS, max_size=8))
def test_what_is_certain_is_right(type_: ScalarType, iso: bool, texts: list[str | None]) -> None:
    uncertain = set(uncertain_times(type_, iso=iso)(texts))
    read = time_text_reader(iso)
    for text in texts:
        if text is not None and text not in uncertain:
            assert fitting_type(type_, read(text) or STRING) == type_


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (DATE, "2020-12-31"),
        (timestamp(6), "2020-11-30 23:59:59.123456"),
        (timestamp(9), "1999-01-01 00:00:00.123456789"),
        (timestamp_ltz(6), "2020-12-28 23:59:59+01:00"),
        (timestamp_ltz(6), "2020-12-28 23:59:59"),
    ],
    ids=str,
)
def test_usual_texts_are_certain(type_: ScalarType, text: str) -> None:
    assert uncertain_times(type_, iso=False)([text, None, "2020-02-30"]) == ["2020-02-30"]
    assert uncertain_times(type_, iso=True)([text.replace(" ", "T")]) == []
