"""Fast paths for whole columns give the same values, in the same places, as single values do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millrace_formats.csv.joined_messages import JoinedMessages
from millrace_formats.csv.options import CsvOptions
from millrace_formats.csv.quoting import Quoting
from millrace_formats.shared import sql_times
from millrace_formats.shared.fallback_decoder import is_utf8, sorted_unique
from millrace_formats.shared.java_text import parse_integer
from millrace_formats.shared.message_order import merge_by_message
from millrace_formats.shared.number_columns import parse_integers
from millrace_formats.shared.time_columns import parse_timestamps

DIGITS = st.from_regex(r"[0-9]{4}-[01][0-9]-[0-3][0-9][ T][0-2][0-9]:[0-5][0-9]:[0-5][0-9]", fullmatch=True)
FRACTIONS = st.sampled_from(["", ".", ".1", ".123", ".123456", ".1234567", ".+1", ".1-23"])
ZONES = st.sampled_from(["", "Z", "z", "+02:00", "-1130", "+5", ":30"])
TIMES = st.tuples(DIGITS, FRACTIONS, ZONES).map("".join)
TEXTS = st.none() | TIMES | st.text("0123456789-:T.Z+ 'ü", max_size=32)


@st.composite
def slices(draw: st.DrawFn, texts: st.SearchStrategy[str | None]) -> pa.StringArray:
    """Some texts, mostly of one length, as a part of more of them."""
    one = draw(texts)
    values = draw(st.lists(st.sampled_from([one, one, one]) | texts, max_size=10))
    start = draw(st.integers(0, len(values)))
    return pa.array(values, pa.string())[start : draw(st.integers(start, len(values)))]


def checked(array: pa.Array, rejected: list[np.ndarray]) -> list[Any]:
    """The values of an array, with "rejected" for those that are left to the exact reader."""
    array.validate(full=True)
    values = array.to_pylist()
    for position in sorted_unique(rejected).tolist():
        values[position] = "rejected"
    return values


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
@given(texts=slices(TEXTS), iso=st.booleans())
def test_timestamps_are_left_or_read_as_one_by_one(zone: str | None, texts: pa.StringArray, iso: bool) -> None:
    rejected: list[np.ndarray] = []
    found = parse_timestamps(texts, pa.timestamp("us", zone), iso, rejected.append)
    for value, text in zip(checked(found.cast(pa.int64()), rejected), texts.to_pylist(), strict=True):
        if text is None:
            assert value is None
        elif value != "rejected":
            one = sql_times.parse_instant(text, iso, zone) if zone else sql_times.parse_local_timestamp(text, iso)
            assert value == one


@pytest.mark.parametrize("zone", ["", "Z", "+02:00"])
def test_usual_timestamps_are_not_left(zone: str) -> None:
    usual = [f"2024-05-01 12:34:5{n}{'.5' * (n % 3 == 2)}{zone}" for n in range(10)]
    texts = pa.array([None, *usual, "2024-05-01 12:34:56.1234567", "x"], pa.string())
    rejected: list[np.ndarray] = []
    parse_timestamps(texts, pa.timestamp("us", "UTC"), False, rejected.append)
    assert sorted_unique(rejected).tolist() == [11, 12]


@given(
    slices(st.none() | st.integers(-(2**31) - 5, 2**31 + 5).map(str) | st.text("0123456789xXaA-+' \n", max_size=5)),
)
def test_integers_are_left_or_read_as_one_by_one(texts: pa.StringArray) -> None:
    rejected: list[np.ndarray] = []
    found = parse_integers(texts, pa.int32(), rejected.append)
    for value, text in zip(checked(found, rejected), texts.to_pylist(), strict=True):
        if text is None:
            assert value is None
        elif value != "rejected":
            assert value == parse_integer(text, 32)
        else:
            assert not text.isdecimal() or not -(2**31) <= int(text) < 2**31


@given(st.data())
def test_rows_are_merged_by_their_messages(data: st.DataObject) -> None:
    count = data.draw(st.integers(0, 90))
    kinds = data.draw(st.lists(st.sampled_from("mmmmmwf-"), min_size=count, max_size=count))
    many = [index for index, kind in enumerate(kinds) if kind in "mw"]
    wrong = [position for position, index in enumerate(many) if kinds[index] == "w"]
    few = [index for index, kind in enumerate(kinds) if kind in "wf" for _ in range(data.draw(st.integers(0, 2)))]

    def rows(name: str, indexes: list[int]) -> pa.RecordBatch:
        return pa.record_batch({"a": [f"{name}{index}" for index in indexes], "b": pa.array(indexes, pa.int32())})

    typed = [np.array(indexes, np.int32) for indexes in (many, few)]
    empty = pa.schema([("a", pa.string()), ("b", pa.int32())])
    merged, index = merge_by_message(
        rows("m", many).cast(empty), typed[0], np.array(wrong, np.intp), rows("f", few).cast(empty), typed[1]
    )
    expected = sorted(
        [*((i, "m") for i in many if kinds[i] == "m"), *((i, "f") for i in few)], key=lambda pair: pair[0]
    )
    assert merged.column("a").to_pylist() == [f"{name}{i}" for i, name in expected]
    assert merged.column("b").to_pylist() == index.tolist() == [i for i, _ in expected]


@given(st.lists(st.text("a\n\r\ufeffü", min_size=1, max_size=4).map(str.encode) | st.binary(min_size=1, max_size=3)))
def test_messages_that_are_not_single_lines_are_found_and_dropped(messages: list[bytes]) -> None:
    message_index = np.arange(len(messages), dtype=np.int32) * 2
    joined = JoinedMessages(messages, message_index)
    others = [
        position
        for position, message in enumerate(messages)
        if b"\n" in message or b"\r" in message or not is_utf8(message) or message.startswith("\ufeff".encode())
    ]
    assert joined.not_single_lines() == others
    rest = joined.drop(others)
    single = [position for position in range(len(messages)) if position not in others]
    assert rest.text == b"\n".join(messages[position] for position in single)
    assert rest.message_index.tolist() == [message_index[position] for position in single]
    assert rest.not_single_lines() == []


@given(
    slices(st.none() | st.text("ab,;'\"\\|~ ü\n-", max_size=30)),
    st.sampled_from([(",", '"', None), (";", "'", "\\"), ("|", "~", None), ("\t", '"', "|"), ("~", "|", None)]),
)
def test_both_ways_to_find_what_needs_quotes_agree(texts: pa.StringArray, dialect: tuple[str, str, str | None]) -> None:
    delimiter, quote, escape = dialect
    quoting = Quoting(CsvOptions(field_delimiter=delimiter, quote_character=quote, escape_character=escape), quote)
    by_bytes = quoting._unsafe_bytes(texts)[texts.is_valid().to_numpy(zero_copy_only=False)]
    by_characters = quoting._unsafe_characters(texts)[texts.is_valid().to_numpy(zero_copy_only=False)]
    assert by_bytes.tolist() == by_characters.tolist()
