from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from millrace.contracts import TopicPartition
from millrace.errors import OptionsError
from millrace.options.parser import OptionParser
from millrace.testing import OffsetInitializerSuite
from millrace.testing.offset_initializer import LogLookup
from millrace_offsets.timestamp import TimestampOffset, TimestampOptions, parse_timestamps

# Records have the timestamps 1000, 2000, 3000 ...
LOGS = {TopicPartition("a", 0): (0, 5), TopicPartition("a", 1): (0, 5), TopicPartition("b", 0): (10, 12)}


class TimestampSuite(OffsetInitializerSuite):
    def test_driver_can_parse_the_options(self) -> None:
        # One of two options is required, which no default can say
        given = {"timestamp-millis": "2500"}
        assert OptionParser("plugin", given).take(TimestampOptions) == TimestampOptions(millis=2_500)


class TestTimestampOffset(TimestampSuite):
    def make_initializer(self) -> TimestampOffset:
        return TimestampOffset(TimestampOptions(millis=2_500))

    def test_gives_the_first_record_that_is_not_before_it(self) -> None:
        offsets = self.offsets()
        assert offsets[TopicPartition("orders", 0)] == 2
        assert offsets[TopicPartition("orders", 1)] == 42

    def test_gives_the_end_of_a_partition_without_such_a_record(self) -> None:
        assert self.offsets()[TopicPartition("orders", 2)] == 0


class TestTimesOfSinglePartitions(TimestampSuite):
    def make_initializer(self) -> TimestampOffset:
        return TimestampOffset(
            TimestampOptions(partition_millis=parse_timestamps("topic:orders,partition:0,timestamp:2500"))
        )

    def test_one_partition_of_many(self) -> None:
        # Unlike others this initializer knows when it is asked for fewer partitions than its options speak of
        only, other = TopicPartition("orders", 0), TopicPartition("orders", 1)
        assert dict(self.make_initializer().offsets([only], self.lookup())) == {only: 2}
        with pytest.raises(OptionsError, match="partition 0 of topic 'orders' is not among"):
            self.make_initializer().offsets([other], self.lookup())

    def test_are_each_partitions_own(self) -> None:
        assert self.offsets() == {TopicPartition("orders", 0): 2}


def offsets(options: TimestampOptions, lookup: LogLookup | None = None) -> Mapping[TopicPartition, int]:
    return TimestampOffset(options).offsets(list(LOGS), lookup or LogLookup(LOGS))


def problem(options: TimestampOptions) -> str:
    with pytest.raises(OptionsError) as error:
        offsets(options)
    (only,) = error.value.problems
    return only


def given(text: str, *, all_named: bool = False) -> TimestampOptions:
    return TimestampOptions(partition_millis=parse_timestamps(text), all_named=all_named)


def test_each_time_is_looked_up_once() -> None:
    lookup = LogLookup(LOGS)
    text = "topic:a,partition:0,timestamp:2000;topic:a,partition:1,timestamp:4000;topic:b,partition:0,timestamp:2000"
    assert offsets(given(text), lookup) == dict(zip(LOGS, (1, 3, 11), strict=True))
    assert lookup.requests == {"at_timestamp": 2}


def test_a_partition_that_is_not_there_is_refused() -> None:
    assert problem(given("topic:a,partition:9,timestamp:1")) == (
        "partition timestamps: partition 9 of topic 'a' is not among the partitions that are read: a-0, a-1, b-0"
    )


def test_all_partitions_must_be_named_when_asked_for() -> None:
    assert offsets(given("partition:0,timestamp:2000")) == {TopicPartition("a", 0): 1, TopicPartition("b", 0): 11}
    assert problem(given("partition:0,timestamp:2000", all_named=True)) == (
        "partition timestamps: every partition that is read must be named; missing: a-1"
    )


def test_without_such_a_record_the_end_is_taken_or_the_query_fails() -> None:
    assert offsets(TimestampOptions(millis=3_000)) == dict(zip(LOGS, (2, 2, 12), strict=True))
    assert problem(TimestampOptions(millis=3_000, no_match="error")) == (
        "no record in b-0 has the timestamp 3000 or a later one; give an earlier time, or set 'timestamp-no-match' "
        "('startingOffsetsByTimestampStrategy') to 'latest' to take the end of such partitions"
    )
    assert "no record in a-0 (nor in 2 more partitions) has" in problem(
        TimestampOptions(millis=9_000, no_match="error")
    )


def test_where_every_partition_has_such_a_record_nothing_fails() -> None:
    expected = offsets(TimestampOptions(millis=2_000))
    assert offsets(TimestampOptions(millis=2_000, no_match="error")) == expected


def test_a_list_of_times_is_read() -> None:
    text = "topic:a,partition:0,timestamp:1767323045678; partition:1,timestamp:0"
    assert parse_timestamps(text) == (("a", 0, 1_767_323_045_678), (None, 1, 0))


@pytest.mark.parametrize("text", ["", "0:42", "partition:0,offset:1", "partition:0,timestamp:-1"])
def test_another_list_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected 'partition:0,timestamp:1767323045678;partition:1,timestamp:0'"):
        parse_timestamps(text)


def test_a_time_later_than_kafkas_latest_is_refused() -> None:
    assert parse_timestamps(f"partition:0,timestamp:{2**63 - 1}") == ((None, 0, 2**63 - 1),)
    with pytest.raises(ValueError, match="expected timestamps up to 9223372036854775807"):
        parse_timestamps(f"partition:0,timestamp:{2**63}")
    assert "expected less than or equal to 9223372036854775807" in parse_problem({"timestamp-millis": str(2**63)})


def parse_problem(options: dict[str, str]) -> str:
    parser = OptionParser("source", {f"scan.startup.{name}": text for name, text in options.items()})
    parser.take(TimestampOptions, "scan.startup.")
    with pytest.raises(OptionsError) as error:
        parser.finish()
    return str(error.value)


@pytest.mark.parametrize("text", ["yesterday", "-1", ""])
def test_a_time_that_is_none_is_refused(text: str) -> None:
    assert "option 'scan.startup.timestamp-millis': expected" in parse_problem({"timestamp-millis": text})


def test_a_time_as_text_is_looked_up_like_its_milliseconds() -> None:
    taken = OptionParser("source", {"timestamp": "1970-01-01T00:00:02Z"}).take(TimestampOptions)
    assert taken is not None
    assert offsets(taken) == offsets(TimestampOptions(millis=2_000))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"timestamp-millis": "1", "partition-timestamps": "partition:0,timestamp:1"},
        {"timestamp-millis": "1", "timestamp": "2026-11-27"},
    ],
)
def test_one_of_both_ways_to_give_times_is_required(options: dict[str, str]) -> None:
    assert parse_problem(options) == (
        "wrong source options: options 'scan.startup.*': give timestamp or timestamp-millis, or else "
        "partition-timestamps for single partitions"
    )


def test_what_happens_without_a_match_is_one_of_two() -> None:
    told = parse_problem({"timestamp-millis": "1", "timestamp-no-match": "earliest"})
    assert "option 'scan.startup.timestamp-no-match': expected one of latest, error; got 'earliest'" in told


@pytest.mark.parametrize("times", [{"millis": 1_700_000_000}, {"partition_millis": (("orders", 0, 1_700_000_000),)}])
def test_seconds_are_told_from_milliseconds(times: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="1700000000 ms is a day of 1970; if these are seconds, give 1700000000000"):
        TimestampOptions(**times)


@pytest.mark.parametrize(
    ("millis", "problem"),
    [
        (
            100_000_000_000_000,
            "100000000000000 ms is after the year 5138; if these are microseconds, give 1000000",
        ),
        (1_700_000_000_000_000, "if these are microseconds, give 1700000000000"),
        (1_700_000_000_000_000_000, "if these are nanoseconds, give 1700000000000"),
    ],
)
def test_microseconds_and_nanoseconds_are_told_from_milliseconds(millis: int, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        TimestampOptions(millis=millis)
    with pytest.raises(ValueError, match=problem):
        TimestampOptions(partition_millis=((None, 0, millis),))


def test_the_latest_time_of_kafka_is_a_time() -> None:
    assert TimestampOptions(millis=2**63 - 1).millis == 2**63 - 1
