"""Offsets in the JSON of Spark's own connector reach the offset initializers unchanged."""

from __future__ import annotations

import json
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from millrace.configuration.spark_compat import translate_spark_options
from millrace.options.values import parse_partitions, parse_topics
from millrace_offsets.specific import parse_offsets
from millrace_offsets.timestamp import parse_timestamps

topics = st.text("abz09._-", min_size=1, max_size=8).filter(lambda name: name not in {".", ".."})
numbers = st.integers(0, 10**5)
LISTS: dict[str, Callable[[str], object]] = {
    "topic-partitions": parse_partitions,
    "scan.startup.specific-offsets": parse_offsets,
    "scan.bounded.specific-offsets": parse_offsets,
    "scan.startup.partition-timestamps": parse_timestamps,
}
ENDS = {-1: "latest", -2: "earliest"}


def of_partitions(values: st.SearchStrategy[int]) -> st.SearchStrategy[dict[str, dict[int, int]]]:
    listed = st.dictionaries(numbers, values, min_size=1, max_size=5)
    return st.dictionaries(topics, listed, min_size=1, max_size=5)


def as_json(listed: dict[str, dict[int, int]]) -> str:
    return json.dumps({topic: {str(at): value for at, value in found.items()} for topic, found in listed.items()})


def flat(listed: dict[str, dict[int, int]]) -> tuple[tuple[str, int, int], ...]:
    return tuple((topic, at, value) for topic, found in listed.items() for at, value in found.items())


@given(of_partitions(st.integers(-2, 2**63 - 1)))
def test_offsets_are_told(listed: dict[str, dict[int, int]]) -> None:
    made = translate_spark_options({"startingOffsets": as_json(listed)})
    assert made.problems == ()
    told = parse_offsets(made.options["scan.startup.specific-offsets"])
    assert told == tuple((topic, at, ENDS.get(offset, offset)) for topic, at, offset in flat(listed))


@given(of_partitions(st.integers(0, 2**63 - 1)))
def test_times_are_told(listed: dict[str, dict[int, int]]) -> None:
    made = translate_spark_options({"endingOffsetsByTimestamp": as_json(listed)})
    assert made.problems == ()
    assert parse_timestamps(made.options["scan.bounded.partition-timestamps"]) == flat(listed)


@given(st.dictionaries(topics, st.lists(numbers, max_size=5), max_size=5))
def test_partitions_are_told_once_each(listed: dict[str, list[int]]) -> None:
    made = translate_spark_options({"assign": json.dumps(listed)})
    chosen = {(topic, at) for topic, found in listed.items() for at in found}
    if chosen:
        told = parse_partitions(made.options["topic-partitions"])
        assert (set(told), len(told)) == (chosen, len(chosen))
    else:
        assert len(made.problems) == 1


@given(st.lists(topics, min_size=1, max_size=8))
def test_topics_are_told_once_each(listed: list[str]) -> None:
    told = parse_topics(translate_spark_options({"subscribe": " ,".join(listed)}).options["topic"])
    assert (set(told), len(told)) == (set(listed), len(set(listed)))


texts = st.text(max_size=20) | st.recursive(
    st.integers() | st.booleans() | st.none() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(topics | st.just("0"), inner, max_size=3),
    max_leaves=6,
).map(json.dumps)


@given(st.sampled_from(["assign", "startingOffsets", "endingOffsets", "startingOffsetsByTimestamp"]), texts)
def test_any_text_is_told_or_refused_by_name(name: str, text: str) -> None:
    made = translate_spark_options({name: text})
    if made.problems:
        (problem,) = made.problems
        assert problem.startswith(f"option {name!r}: expected ")
        assert dict(made.options) == {}
    for option, told in made.options.items():
        if option in LISTS:
            assert LISTS[option](told)
