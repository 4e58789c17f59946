"""Malformed messages fail a task, or are counted up to a limit."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from millrace.configuration.build import configure_source
from millrace.contracts import TopicPartition
from millrace.errors import MessageError
from millrace.monitoring.malformed_runs import MalformedRuns
from millrace.monitoring.split_report import MalformedTotals
from millrace.records.messages import Messages
from millrace.source.reader.dead_letters import collector_for
from millrace.source.reader.error_policy import ErrorPolicy, MalformedRecord
from millrace.source.reader.split_metrics import SplitMetrics
from millrace.source.splits import OffsetRange, Split

Make = Callable[..., Messages]
Take = Callable[..., None]


def tolerant_policy(metrics: SplitMetrics | None = None, **options: str) -> ErrorPolicy:
    names = {
        "max_count": "ingestion.error-tolerance.max-count",
        "max_ratio": "dirty-data.max-ratio",
        "max_consecutive": "dirty-data.max-consecutive",
        "collector": "dirty-data.collector",
    }
    tolerant = {"ingestion.ignore-errors": "true", **{names[name]: value for name, value in options.items()}}
    return policy(tolerant, metrics)


def policy(options: dict[str, str], metrics: SplitMetrics | None = None) -> ErrorPolicy:
    config = configured(options)
    return ErrorPolicy(config.options, metrics or SplitMetrics(), collector_for(config))


def configured(options: dict[str, str]):
    return configure_source({"properties.bootstrap.servers": "h:1", "format": "json", **options})


@pytest.fixture
def take(messages: Make) -> Take:
    """Pass a batch of messages to a policy, the last ones of which are malformed."""

    def give(to: ErrorPolicy, bad: int, good: int = 0, lenient: str | None = None) -> None:
        read = messages(*[{"value": b"{oops"}] * (bad + good))
        to.handle(
            read, [MalformedRecord(item, "no good", "json", lenient_option=lenient) for item in read.items[good:]]
        )

    return give


def test_a_malformed_message_is_an_error_with_what_to_do(take: Take) -> None:
    with pytest.raises(MessageError) as error:
        take(policy({}), 1, good=4, lenient="json.ignore-parse-errors")
    assert str(error.value) == (
        "malformed message in topic 'orders', partition 3, offset 104: no good. It begins with '{oops'. To let such "
        "messages pass, set 'json.ignore-parse-errors' to true; to skip and count them, set 'ingestion.ignore-errors' "
        "to true"
    )


def test_malformed_messages_are_counted_in_their_partitions(messages: Make) -> None:
    read = messages({"partition": 1}, {"partition": 2}, {"partition": 1}, {"topic": "refunds", "partition": 2})
    metrics = SplitMetrics()
    tolerant_policy(metrics).handle(read, [MalformedRecord(item, "no good", "json") for item in read.items])
    assert {str(partition): count.errors for partition, count in metrics.counts.items()} == {
        "orders-1": 2,
        "orders-2": 1,
        "refunds-2": 1,
    }


def test_the_first_of_several_is_told_and_how_many_more_there_are(take: Take) -> None:
    with pytest.raises(MessageError) as error:
        take(policy({}), 2, good=1)
    assert "offset 101: " in str(error.value)
    assert "; 1 more of 3 messages read together are malformed. To skip and count " in str(error.value)


def test_tolerated_messages_are_counted_by_partition(take: Take) -> None:
    metrics = SplitMetrics()
    tolerant = tolerant_policy(metrics)
    take(tolerant, 2)
    take(tolerant, 3)
    tolerant.finish()
    assert {partition: count.errors for partition, count in metrics.counts.items()} == {TopicPartition("orders", 3): 5}
    assert not tolerant.needs_query_total


def test_a_task_tells_at_its_end_how_many_it_has_skipped(take: Take, caplog: pytest.LogCaptureFixture) -> None:
    tolerant = tolerant_policy()
    take(tolerant, 2)
    assert caplog.messages == []
    tolerant.finish()
    assert caplog.messages == [
        "malformed messages skipped by this task (option 'ingestion.ignore-errors'): 2, the last one in topic "
        "'orders', partition 3, offset 101"
    ]
    tolerant_policy().finish()
    assert len(caplog.messages) == 1


def test_as_many_as_are_allowed_pass_and_one_more_does_not(take: Take) -> None:
    tolerant = tolerant_policy(max_count="3")
    take(tolerant, 2)
    take(tolerant, 1)
    with pytest.raises(MessageError) as error:
        take(tolerant, 2, good=5)
    assert str(error.value) == (
        "malformed messages read by this task: 5, more than the 3 that option 'ingestion.error-tolerance.max-count' "
        "allows. The last one is a malformed message in topic 'orders', partition 3, offset 106: no good. It begins "
        "with '{oops'"
    )


def test_none_may_be_allowed(take: Take) -> None:
    with pytest.raises(MessageError, match="read by this task: 1, more than the 0 that option"):
        take(tolerant_policy(max_count="0"), 1)


def test_those_that_are_too_many_are_collected_all_the_same(take: Take, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(MessageError):
        take(tolerant_policy(max_count="0", collector="logger"), 1)
    assert caplog.messages[0].endswith("It begins with '{oops'. It is skipped")


def test_all_tasks_together_may_have_met_too_many(take: Take) -> None:
    tolerant = tolerant_policy(max_count="3")
    assert not tolerant.needs_query_total
    take(tolerant, 2)
    assert tolerant.needs_query_total
    tolerant.check_query_total(MalformedTotals(3, 9))
    with pytest.raises(MessageError) as error:
        tolerant.check_query_total(MalformedTotals(4, 9))
    assert str(error.value).startswith(
        "malformed messages read by this query: 4, more than the 3 that option 'ingestion.error-tolerance.max-count' "
        "allows. The last one is a malformed message in topic 'orders', partition 3, offset 101: "
    )


def test_a_driver_that_does_not_tell_is_told_of(take: Take, caplog: pytest.LogCaptureFixture) -> None:
    tolerant = tolerant_policy(max_count="3")
    take(tolerant, 2)
    tolerant.check_query_total(None)
    assert "'ingestion.error-tolerance.max-count' holds for this task alone" in caplog.text


def test_a_larger_share_than_allowed_is_an_error_once_there_are_enough_messages(messages: Make, take: Take) -> None:
    metrics = SplitMetrics()
    tolerant = tolerant_policy(metrics, max_ratio="0.05")
    take(tolerant, 6)
    metrics.fetched(TopicPartition("orders", 3), messages(*[{}] * 99).items, 0)
    tolerant.check_share_of_task()
    metrics.fetched(TopicPartition("orders", 3), messages({}).items, 0)
    with pytest.raises(MessageError) as error:
        tolerant.check_share_of_task()
    assert str(error.value).startswith(
        "malformed messages read by this task: 6 of 100, a larger share than the 0.05 that option "
        "'dirty-data.max-ratio' allows. The last one is a malformed message in topic 'orders', partition 3, offset "
    )
    metrics.fetched(TopicPartition("orders", 3), messages(*[{}] * 20).items, 0)
    tolerant.check_share_of_task()


def test_the_share_of_a_stream_is_that_of_the_query(take: Take) -> None:
    tolerant = tolerant_policy(max_ratio="5 %")
    take(tolerant, 2)
    assert tolerant.needs_query_total
    tolerant.check_query_total(MalformedTotals(50, 1_000))
    with pytest.raises(MessageError, match=r"by this query: 51 of 1000, a larger share than the 0\.05 that"):
        tolerant.check_query_total(MalformedTotals(51, 1_000))


def test_a_share_is_not_rounded(messages: Make, take: Take) -> None:
    metrics = SplitMetrics()
    tolerant = tolerant_policy(metrics, max_ratio="0.29")
    take(tolerant, 29)
    metrics.fetched(TopicPartition("orders", 3), messages(*[{}] * 100).items, 0)
    tolerant.check_share_of_task()
    take(tolerant, 1)
    with pytest.raises(MessageError, match="30 of 100"):
        tolerant.check_share_of_task()


def test_the_last_task_that_ends_compares_the_share_though_its_messages_are_sound() -> None:
    tolerant = tolerant_policy(max_ratio="5 %", max_count="3")
    assert tolerant.needs_query_total
    tolerant.check_query_total(MalformedTotals(51, 0))
    tolerant.check_query_total(MalformedTotals(51, 1_000, not_compared=1))
    with pytest.raises(MessageError) as error:
        tolerant.check_query_total(MalformedTotals(51, 1_000))
    assert str(error.value) == (
        "malformed messages read by this query: 51 of 1000, a larger share than the 0.05 that option "
        "'dirty-data.max-ratio' allows"
    )


def test_a_sound_task_asks_for_no_other_limit(caplog: pytest.LogCaptureFixture) -> None:
    for limit in ({}, {"max_count": "3"}, {"max_consecutive": "3"}):
        assert not tolerant_policy(**limit).needs_query_total
    tolerant_policy(max_ratio="0.05").check_query_total(None)
    assert caplog.messages == []


def test_as_many_in_a_row_as_are_allowed_pass(take: Take) -> None:
    tolerant = tolerant_policy(max_consecutive="3")
    take(tolerant, 3, good=1)
    take(tolerant, 2, good=1)
    take(tolerant, 0, good=1)
    take(tolerant, 3)
    with pytest.raises(MessageError) as error:
        take(tolerant, 1)
    assert str(error.value).startswith(
        "malformed messages read by this task one after another in a partition: 4, more than the 3 that option "
        "'dirty-data.max-consecutive' allows. The last one is a malformed message in topic 'orders', partition 3, "
    )


def test_each_partition_has_its_own_run(messages: Make) -> None:
    tolerant = tolerant_policy(max_consecutive="2")
    places = [{"partition": 1}, {"partition": 2}, {"partition": 1}, {"partition": 2}]
    read = dataclasses.replace(messages(*places), is_mixed=True)
    tolerant.handle(read, [MalformedRecord(item, "no good", "json") for item in read.items])
    split = Split((OffsetRange(TopicPartition("orders", 1), 0, 9), OffsetRange(TopicPartition("orders", 4), 0, 9)))
    assert tolerant.runs_of(split) == {
        TopicPartition("orders", 1): (0, 9, MalformedRuns(2, 2, 2)),
        TopicPartition("orders", 4): (0, 9, MalformedRuns()),
    }


def test_nothing_is_known_of_the_runs_that_are_replayed() -> None:
    tolerant = tolerant_policy(max_consecutive="2")
    first, second = (OffsetRange(TopicPartition("orders", number), 0, 9) for number in (1, 2))
    tolerant.replayed(first.partition)
    assert tolerant.runs_of(Split((first, second))) == {second.partition: (0, 9, MalformedRuns())}
    assert tolerant.replayed_partitions == (first.partition,)


def test_the_driver_may_know_of_more_in_a_row(take: Take) -> None:
    tolerant = tolerant_policy(max_consecutive="2")
    take(tolerant, 2)
    assert tolerant.needs_query_total
    with pytest.raises(MessageError, match="by this query one after another in a partition: 3, more than the 2"):
        tolerant.check_query_total(MalformedTotals(3, 3, longest_run=3))


Make = Callable[..., Messages]


@pytest.fixture
def bad(messages: Make) -> Callable[..., MalformedRecord]:
    """A malformed message with this value."""
    return lambda value, **key: MalformedRecord(
        messages({"value": value, **key}).items[0], "bad", "json", is_key=bool(key)
    )


def test_a_malformed_message_is_told_with_its_place_the_reason_and_its_beginning(messages: Make) -> None:
    second = messages({"value": b"good"}, {"value": b"caf\xe9 noir"}).items[1]
    assert str(MalformedRecord(second, "it is not UTF-8", "json")) == (
        r"malformed message in topic 'orders', partition 3, offset 101: it is not UTF-8. It begins with 'caf\xe9 noir'"
    )


def test_a_malformed_key_is_told_to_be_the_key(bad: Callable[..., MalformedRecord]) -> None:
    assert str(bad(b"good", key=b"{oops")) == (
        "malformed key in topic 'orders', partition 3, offset 100: bad. It begins with '{oops'"
    )


@pytest.mark.parametrize(
    ("payload", "shown"),
    [
        (b'{"a": 1', "'{\"a\": 1'"),
        (b"it's", '"it\'s"'),
        (b"a\nb\tc", r"'a\nb\tc'"),
        ("grün".encode(), "'grün'"),
        (b"\x00\xff", r"'\x00\xff'"),
        (b"C:\\temp", r"'C:\\temp'"),
        (b"", "''"),
    ],
)
def test_the_beginning_is_shown_as_python_writes_it(
    bad: Callable[..., MalformedRecord], payload: bytes, shown: str
) -> None:
    assert str(bad(payload)).endswith(f": bad. It begins with {shown}")


def test_of_a_long_payload_the_beginning_is_shown(bad: Callable[..., MalformedRecord]) -> None:
    told = str(bad(b"x" * 5_000))
    assert told.endswith(f"It begins with '{'x' * 120}' (the first 120 of 5000 bytes)")


def test_a_character_is_not_cut_in_two(bad: Callable[..., MalformedRecord]) -> None:
    assert r"\xc3" not in str(bad(("x" * 119 + "ü" * 10).encode()))


def test_a_null_payload_is_told_as_such(bad: Callable[..., MalformedRecord]) -> None:
    assert str(bad(None)).endswith(": bad. It is null")


def test_the_advice_names_what_lets_a_message_pass_and_what_skips_it(messages: Make) -> None:
    (message,) = messages({"value": b"x"}).items
    assert MalformedRecord(message, "bad", "raw").hint == (
        "To skip and count such messages, set 'ingestion.ignore-errors' to true"
    )
    assert MalformedRecord(message, "bad", "json", lenient_option="json.ignore-parse-errors").hint == (
        "To let such messages pass, set 'json.ignore-parse-errors' to true; to skip and count them, set "
        "'ingestion.ignore-errors' to true"
    )
