from __future__ import annotations

import pytest

from millrace.contracts import TopicPartition
from millrace.errors import OptionsError
from millrace.testing import OffsetInitializerSuite
from millrace.testing.offset_initializer import LogLookup
from millrace_offsets.specific import SpecificOffsets, SpecificOptions, parse_offsets

EVERYWHERE = [TopicPartition("orders", number) for number in range(3)]
READ = [*EVERYWHERE, TopicPartition("payments", 0)]


class TestSpecificOffsets(OffsetInitializerSuite):
    def make_initializer(self) -> SpecificOffsets:
        return initializer("topic:orders,partition:0,offset:42;topic:payments,partition:0,offset:7")

    def test_gives_what_is_written(self) -> None:
        assert self.offsets() == {TopicPartition("orders", 0): 42, TopicPartition("payments", 0): 7}

    def test_an_entry_for_any_topic_gives_way_to_one_for_its_topic(self) -> None:
        assert self.offsets(initializer("partition:0,offset:42;topic:payments,partition:0,offset:7")) == {
            TopicPartition("orders", 0): 42,
            TopicPartition("payments", 0): 7,
        }

    def test_one_partition_of_many(self) -> None:
        # Unlike others this initializer knows when it is asked for fewer partitions than its options speak of
        (only, *_) = self.logs()
        with pytest.raises(OptionsError, match="partition 2 of topic 'orders' is not among"):
            initializer("topic:orders,partition:0,offset:42;topic:orders,partition:2,offset:1").offsets(
                [only], self.lookup()
            )
        assert dict(self.make_initializer().offsets([only], self.lookup())) == {only: 42}


class TestEndsOfTheLog(OffsetInitializerSuite):
    def make_initializer(self) -> SpecificOffsets:
        return initializer("topic:orders,partition:1,offset:earliest;topic:payments,partition:11,offset:latest")

    def test_one_partition_of_many(self) -> None:
        last = TopicPartition("payments", 11)
        made = initializer("topic:payments,partition:11,offset:latest")
        assert dict(made.offsets([last], self.lookup())) == {last: 2**40 + 1}

    def test_are_looked_up(self) -> None:
        assert self.offsets() == {TopicPartition("orders", 1): 40, TopicPartition("payments", 11): 2**40 + 1}


def initializer(text: str, *, all_named: bool = False) -> SpecificOffsets:
    return SpecificOffsets(SpecificOptions(entries=parse_offsets(text), all_named=all_named))


def offsets(made: SpecificOffsets, partitions: list[TopicPartition]) -> dict[TopicPartition, int]:
    return dict(made.offsets(partitions, LogLookup(dict.fromkeys(partitions, (0, 100)))))


def problems(made: SpecificOffsets, partitions: list[TopicPartition]) -> tuple[str, ...]:
    with pytest.raises(OptionsError) as error:
        offsets(made, partitions)
    return error.value.problems


def test_the_references_text_is_read() -> None:
    assert parse_offsets("partition:0,offset:42;partition:1,offset:300") == ((None, 0, 42), (None, 1, 300))


def test_the_ends_of_the_log_are_words() -> None:
    assert parse_offsets("topic:a.b-c_D,partition:0,offset:earliest; partition:1,offset:latest ") == (
        ("a.b-c_D", 0, "earliest"),
        (None, 1, "latest"),
    )


@pytest.mark.parametrize(
    "text",
    ["", "0:42", "partition:0", "partition:0,offset:-1", "partition:0,offset:1;", "partition:0,offset:newest"],
)
def test_another_text_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected 'partition:0,offset:42;partition:1,offset:300'"):
        parse_offsets(text)


def test_a_partition_named_twice_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'partition:0,offset:2' names one again"):
        parse_offsets("partition:0,offset:1;partition:0,offset:2")


def test_a_partition_of_a_topic_that_is_read_must_be_there() -> None:
    made = initializer("topic:orders,partition:0,offset:5;topic:orders,partition:7,offset:5")
    assert problems(made, READ) == (
        "specific offsets: partition 7 of topic 'orders' is not among the partitions that are read: orders-0, "
        "orders-1, orders-2, payments-0",
    )


def test_a_partition_of_any_topic_must_be_there_in_one() -> None:
    assert offsets(initializer("partition:2,offset:5"), READ) == {TopicPartition("orders", 2): 5}
    assert problems(initializer("partition:3,offset:5;partition:4,offset:5"), EVERYWHERE) == (
        "specific offsets: partition 3 is not among the partitions that are read: orders-0, orders-1, orders-2",
        "specific offsets: partition 4 is not among the partitions that are read: orders-0, orders-1, orders-2",
    )


def test_topics_that_are_not_read_may_be_named() -> None:
    made = initializer("topic:orders,partition:0,offset:5;topic:audit,partition:7,offset:5")
    assert offsets(made, EVERYWHERE) == {TopicPartition("orders", 0): 5}


def test_partitions_may_be_left_out() -> None:
    assert offsets(initializer("partition:0,offset:5"), EVERYWHERE) == {TopicPartition("orders", 0): 5}


def test_all_partitions_and_no_others_must_be_named_when_asked_for() -> None:
    made = initializer("topic:orders,partition:1,offset:5;topic:audit,partition:7,offset:5", all_named=True)
    assert problems(made, EVERYWHERE) == (
        "specific offsets: partition 7 of topic 'audit' is not among the partitions that are read: orders-0, "
        "orders-1, orders-2",
        "specific offsets: every partition that is read must be named; missing: orders-0, orders-2",
    )
    complete = initializer(
        "topic:orders,partition:0,offset:latest;topic:orders,partition:1,offset:5;topic:orders,partition:2,offset:6",
        all_named=True,
    )
    assert offsets(complete, EVERYWHERE) == dict(zip(EVERYWHERE, (100, 5, 6), strict=True))


def test_of_many_partitions_only_some_are_shown() -> None:
    many = [TopicPartition("orders", number) for number in range(12)]
    (problem,) = problems(initializer("partition:99,offset:1"), many)
    assert problem.endswith("orders-9 and 2 more")


def test_others_are_where_specific_offsets_others_says() -> None:
    lookup = LogLookup(dict.fromkeys(READ, (3, 9)))
    named = parse_offsets("topic:orders,partition:0,offset:5")
    for others, offset in {"earliest": 3, "latest": 9}.items():
        options = SpecificOptions(entries=named, others=others)  # the option specific-offsets.others
        found = SpecificOffsets(options).offsets(READ, lookup)
        assert found == {**dict.fromkeys(READ, offset), TopicPartition("orders", 0): 5}
