from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from millrace.errors import MessageError, OptionsError, SchemaError, UnknownTopicError
from millrace.options.connector import SinkOptions
from millrace.sink.writer.topic_routing import check_pattern_matches, topic_router


def routed(
    names: list[str | None], *topics: str, pattern: str | None = None, kind: pa.DataType | None = None
) -> list[tuple[str, list[int] | None]]:
    rows = pa.record_batch({"t": pa.array(names, kind or pa.string())})
    route = topic_router(SinkOptions(topics=topics, topic_pattern=pattern), "t", has_format=True)
    return [(topic, None if indices is None else indices.to_pylist()) for topic, indices in route(rows)]


def refused(names: list[str | None], *topics: str, pattern: str | None = None) -> str:
    with pytest.raises(MessageError) as error:
        routed(names, *topics, pattern=pattern)
    return str(error.value)


def no_route(*topics: str, pattern: str | None = None, has_format: bool) -> str:
    with pytest.raises((SchemaError, OptionsError)) as error:
        topic_router(SinkOptions(topics=topics, topic_pattern=pattern), None, has_format=has_format)
    return str(error.value)


def test_one_topic_takes_all_rows() -> None:
    route = topic_router(SinkOptions(topics=("orders",)), None, has_format=True)
    assert list(route(pa.record_batch({"id": [1, 2]}))) == [("orders", None)]


@pytest.mark.parametrize(
    ("has_format", "add"),
    [
        (False, "add a STRING column topic"),
        (True, "add a STRING column and name it in 'metadata.columns', as topic AS target"),
    ],
)
def test_several_topics_need_a_column_that_chooses(has_format: bool, add: str) -> None:
    assert no_route("a", "b", has_format=has_format) == (
        f"option 'topic' names several topics, so that a column must choose for each row: {add}"
    )
    assert no_route(pattern="a.*", has_format=has_format) == (
        f"option 'topic-pattern' permits several topics, so that a column must choose for each row: {add}"
    )
    assert no_route(has_format=has_format) == (
        f"wrong sink options: option 'topic' is required, such as 'orders'; for a topic of each row's own {add}"
    )


def test_rows_are_divided_by_the_topics_that_they_name_each_in_its_order() -> None:
    assert routed(["b", "a", "b", "b", "c", "a"], "a", "b", "c", "d") == [
        ("b", [0, 2, 3]),
        ("a", [1, 5]),
        ("c", [4]),
    ]


def test_rows_that_all_name_one_topic_stay_together() -> None:
    assert routed(["a", "a"], "a", "b") == [("a", None)]


def test_no_rows_go_nowhere() -> None:
    assert routed([], "a", "b") == []


def test_many_rows_keep_their_order() -> None:
    names = [f"t{number}" for number in np.random.default_rng(7).integers(0, 50, 20_000)]
    found = dict(routed(list(names), pattern="t.*"))
    assert found == {name: [index for index, other in enumerate(names) if other == name] for name in set(names)}


def test_names_may_be_large_text() -> None:
    assert routed(["a"], "a", kind=pa.large_string()) == [("a", None)]


@pytest.mark.parametrize("name", ["c", "A", "a ", ""])
def test_a_topic_that_the_list_lacks_is_refused(name: str) -> None:
    assert refused(["a", name, "b"], "a", "b") == (
        f"a row cannot go to topic {name!r}, which its column 't' names: option 'topic' permits 'a', 'b'"
    )


def test_a_column_that_is_asked_to_choose_must_name_the_one_topic() -> None:
    assert refused(["a", "b"], "a").endswith("which its column 't' names: option 'topic' permits 'a'")


def test_a_pattern_matches_whole_names_as_in_java() -> None:
    pattern = r"orders-\p{Lower}+"
    assert routed(["orders-eu", "orders-us"], pattern=pattern) == [("orders-eu", [0]), ("orders-us", [1])]
    for name in ("orders-EU", "orders-eu-1", "my-orders-eu"):
        assert refused([name], pattern=pattern) == (
            f"a row cannot go to topic {name!r}, which its column 't' names: option 'topic-pattern' permits topics "
            f"that match {pattern!r}"
        )


@pytest.mark.parametrize("name", ["__consumer_offsets", "__transaction_state"])
def test_a_pattern_never_permits_internal_topics(name: str) -> None:
    assert f"cannot go to topic {name!r}" in refused([name], pattern=".*")


@pytest.mark.parametrize(
    ("topics", "pattern", "permitted"),
    [
        (("a", "b"), None, "option 'topic' permits 'a', 'b'"),
        ((), "a|b", "option 'topic-pattern' permits topics that match 'a|b'"),
        ((), None, "any topic of the cluster is permitted, since the option 'topic' is not given"),
    ],
)
def test_a_row_without_a_topic_is_refused(topics: tuple[str, ...], pattern: str | None, permitted: str) -> None:
    assert refused(["a", None], *topics, pattern=pattern) == (
        f"a row has no topic: its column 't' is NULL; {permitted}"
    )


def test_without_options_rows_may_name_any_topic_that_has_a_name() -> None:
    assert routed(["x", "y"]) == [("x", [0]), ("y", [1])]
    assert "cannot go to topic ''" in refused([""])


def test_a_pattern_must_match_some_topic() -> None:
    check_pattern_matches("orders.*", ["audit", "orders-eu"])
    with pytest.raises(UnknownTopicError) as error:
        check_pattern_matches("order", ["__consumer_offsets", "audit", "orders-eu"])
    assert str(error.value) == (
        "no topic matches 'order' (option 'topic-pattern'). Topics there: audit, orders-eu. Create one first, or "
        "check that this client may see it"
    )


def test_a_pattern_is_not_matched_by_internal_topics_and_of_many_topics_some_are_told() -> None:
    with pytest.raises(UnknownTopicError, match=r"Topics there: t0, .*t9 and 2 more\."):
        check_pattern_matches("_.*", ["__consumer_offsets", *(f"t{number}" for number in range(12))])
    with pytest.raises(UnknownTopicError, match=r"Topics there: none\."):
        check_pattern_matches("_.*", ["__consumer_offsets"])
