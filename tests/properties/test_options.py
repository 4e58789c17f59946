from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from millrace.errors import OptionsError
from millrace.options.connector import SinkOptions, SourceOptions, parse_topics
from millrace.options.duration import parse_duration_ms
from millrace.options.parse import OptionParser

UNITS = {
    1: ["", "ms", "milli", "millis", "millisecond", "milliseconds"],
    1_000: ["s", "sec", "secs", "second", "seconds"],
    60_000: ["m", "min", "mins", "minute", "minutes"],
    3_600_000: ["h", "hour", "hours"],
    86_400_000: ["d", "day", "days"],
}
units = st.sampled_from([(unit, size) for size, names in UNITS.items() for unit in names])
spaces = st.text(" \t", max_size=2)
topics = st.text("abz.-_09", min_size=1)


@given(st.integers(-(10**12), 10**12), units, spaces, spaces, spaces, st.booleans())
def test_a_duration_reads_back_in_every_unit(
    count: int, unit: tuple[str, int], before: str, between: str, after: str, upper: bool
) -> None:
    name, size = unit
    text = f"{before}{count}{between}{name.upper() if upper else name}{after}"
    assert parse_duration_ms(text) == count * size


@given(st.text(max_size=20))
def test_any_text_is_a_duration_or_refused_in_words(text: str) -> None:
    try:
        assert isinstance(parse_duration_ms(text), int)
    except ValueError as error:
        assert "expected a duration" in str(error)


@given(st.lists(topics, min_size=1, unique=True), spaces)
def test_a_list_of_topics_reads_back(names: list[str], space: str) -> None:
    assert parse_topics(f"{space};{space}".join(names)) == tuple(names)


@given(st.dictionaries(st.text(max_size=12), st.text(max_size=12), max_size=4))
def test_whatever_is_given_is_parsed_or_refused_by_one_error(given_options: dict[str, str]) -> None:
    parser = OptionParser("millrace", given_options)
    parser.take(SourceOptions)
    parser.take(SinkOptions)
    try:
        parser.finish()
    except OptionsError as error:
        assert error.problems
    else:
        assert not given_options


@given(st.sampled_from(["scan.max-records-per-batch", "scan.topic-partition-discovery.interval"]), st.text(max_size=12))
def test_an_unreadable_value_gives_one_problem(name: str, text: str) -> None:
    parser = OptionParser("millrace", {name: text})
    parser.take(SourceOptions)
    try:
        parser.finish()
    except OptionsError as error:
        assert len(error.problems) == 1
        assert f"option {name!r}" in error.problems[0]


@pytest.mark.parametrize("side", [SourceOptions, SinkOptions])
@given(data=st.data())
def test_names_are_compared_without_case(side: type, data: st.DataObject) -> None:
    name = "".join(data.draw(st.sampled_from([char.lower(), char.upper()])) for char in "value.format")
    parser = OptionParser("millrace", {name: "json"})
    assert parser.take(side) == side(value_format="json")
