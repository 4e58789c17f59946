from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millrace.errors import OptionsError
from millrace.options import options_of
from millrace.options.connector import SinkOptions, SourceOptions
from millrace.options.parser import OptionParser
from millrace.options.values import parse_duration_ms, parse_topics

UNITS = {
    1: ["", "ms", "milli", "millis", "millisecond", "milliseconds"],
    1_000: ["s", "sec", "secs", "second", "seconds"],
    60_000: ["m", "min", "mins", "minute", "minutes"],
    3_600_000: ["h", "hour", "hours"],
    86_400_000: ["d", "day", "days"],
}
NAMES = [
    name.lower()
    for side in (SourceOptions, SinkOptions)
    for info in options_of(side).values()
    for name in (info.name, *info.aliases)
]
units = st.sampled_from([(unit, size) for size, names in UNITS.items() for unit in names])
spaces = st.text(" \t", max_size=2)
topics = st.text("abz.-_09", min_size=1).filter(lambda name: name not in {".", ".."})


@given(st.integers(-(10**12), 10**12), units, spaces, spaces, spaces, st.booleans())
def test_a_duration_reads_back_in_every_unit(
    count: int, unit: tuple[str, int], before: str, between: str, after: str, upper: bool
) -> None:
    name, size = unit
    text = f"{before}{count}{between}{name.upper() if upper else name}{after}"
    assert parse_duration_ms(text) == count * size


def outcome(text: str) -> int | str:
    try:
        return parse_duration_ms(text)
    except ValueError as error:
        return str(error)


@given(st.text(max_size=20) | st.from_regex(r"-?[0-9]{1,3} ?[a-z]{0,3}", fullmatch=True))
def test_any_text_is_a_duration_or_refused_in_words(text: str) -> None:
    found = outcome(text)
    assert isinstance(found, int) or found.startswith("expected a duration")


@given(st.lists(topics, min_size=1, unique=True), spaces)
def test_a_list_of_topics_reads_back(names: list[str], space: str) -> None:
    assert parse_topics(f"{space};{space}".join(names)) == tuple(names)


def problems(given_options: dict[str, str]) -> tuple[str, ...]:
    parser = OptionParser("millrace", given_options)
    parser.take(SourceOptions)
    parser.take(SinkOptions)
    try:
        parser.finish()
    except OptionsError as error:
        return error.problems
    return ()


@given(st.dictionaries(st.text(max_size=12).filter(lambda name: name.lower() not in NAMES), st.text(), max_size=4))
def test_every_option_that_nobody_knows_is_told(given_options: dict[str, str]) -> None:
    assert len(problems(given_options)) == len(given_options)


@given(st.sampled_from(NAMES), st.text(max_size=12))
def test_whatever_its_text_an_option_is_taken_or_told_once(name: str, text: str) -> None:
    found = problems({name: text})
    assert len(found) <= 1
    assert all("unknown option" not in problem for problem in found)


@pytest.mark.parametrize("side", [SourceOptions, SinkOptions])
@given(data=st.data())
def test_names_are_compared_without_case(side: type, data: st.DataObject) -> None:
    name = "".join(data.draw(st.sampled_from([char.lower(), char.upper()])) for char in "value.format")
    parser = OptionParser("millrace", {name: "json"})
    assert parser.take(side) == side(value_format="json")
