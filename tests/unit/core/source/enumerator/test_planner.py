from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from millrace.checkpoint import UNKNOWN_TOPIC_ID, GoneTopics, StreamOffset
from millrace.configuration.build import configure_source
from millrace.contracts import TopicPartition
from millrace.errors import DataLossError, OptionsError
from millrace.kafka.admin import KafkaAdmin
from millrace.source.data_loss_messages import DATA_LOSS_HINT
from millrace.source.enumerator.loss_detection import RECEDED_PATIENCE_S
from millrace.source.enumerator.planner import LAG_INTERVAL_S, Planner, plan_micro_batch
from millrace.source.enumerator.record_probe import RecordProbe
from millrace.source.enumerator.subscriber import MISSING_PATIENCE_S
from millrace.source.splits import OffsetRange, Split
from support.clock import Clock
from support.log import Log

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
IDS = {"a": "id of a"}
DISCOVER_ALWAYS = {"scan.topic-partition-discovery.interval": "1 ms"}
DISCOVER_ONCE = {"scan_topic__partition__discovery_interval": "0"}


@pytest.fixture
def log() -> Log:
    return Log({A0: (10, 100), A1: (0, 7)})


def ticking() -> Callable[[], float]:
    """A clock that goes on whenever it is read, so that the log is looked up at every call."""
    ticks = itertools.count(0, 2 * MISSING_PATIENCE_S)
    return lambda: next(ticks)


def plan(
    log: Log,
    clock: Callable[[], float] | None = None,
    pause: Callable[[float], None] = lambda _: None,
    **options: Any,
) -> Planner:
    """A planner for topic a; underscores stand for dots, and two of them for a dash."""
    given = {name.replace("__", "-").replace("_", "."): value for name, value in options.items()}
    defaults = {"properties.bootstrap.servers": "h:1", "topic": "a", **DISCOVER_ALWAYS}
    admin, probe, config = cast("KafkaAdmin", log), cast("RecordProbe", None), configure_source({**defaults, **given})
    return Planner(config, admin, probe, clock=clock or ticking(), pause=pause, new_id=lambda: "me")


def batch(start: StreamOffset, end: StreamOffset, **options: Any) -> list[Split]:
    return plan_micro_batch(start, end, configure_source({"properties.bootstrap.servers": "h:1", **options}).options)


def splits(*ranges: tuple[TopicPartition, int, int]) -> list[Split]:
    return [Split(tuple(OffsetRange(*found) for found in ranges))]


def test_a_topic_is_required() -> None:
    with pytest.raises(OptionsError, match=r"^wrong source options: option 'topic' is required, such as 'orders' or"):
        Planner.connect(configure_source({"properties.bootstrap.servers": "h:1"}))


def test_a_batch_reads_from_the_earliest_to_the_latest_offsets(log: Log) -> None:
    assert plan(log).batch_splits() == splits((A0, 10, 100), (A1, 0, 7))


def test_a_batch_looks_at_the_logs_once(log: Log) -> None:
    planner = plan(log)
    planner.batch_splits()
    assert log.requests == ["topics", "offsets"]


def test_a_batch_starts_where_it_is_told(log: Log) -> None:
    assert plan(log, scan_startup_mode="latest-offset").batch_splits() == []


def test_a_batch_that_stops_before_it_starts_reads_nothing(log: Log) -> None:
    assert plan(log, scan_startup_mode="latest-offset", scan_bounded_mode="earliest-offset").batch_splits() == []


def test_a_stream_starts_at_the_latest_offsets(log: Log) -> None:
    assert plan(log).first_offset() == StreamOffset({A0: 100, A1: 7}, topic_ids=IDS, owner="me")


def test_a_stream_starts_where_it_is_told(log: Log) -> None:
    assert plan(log, scan_startup_mode="earliest-offset").first_offset() == StreamOffset(
        {A0: 10, A1: 0}, topic_ids=IDS, owner="me"
    )


def test_a_bounded_stream_knows_from_the_first_where_it_stops(log: Log) -> None:
    first = plan(log, scan_startup_mode="earliest-offset", scan_bounded_mode="latest-offset").first_offset()
    assert first == StreamOffset({A0: 10, A1: 0}, stopping_offsets={A0: 100, A1: 7}, topic_ids=IDS, owner="me")


def test_a_bounded_stream_waits_for_offsets_beyond_the_end(log: Log) -> None:
    options = {"scan_bounded_mode": "specific-offsets", "scan_bounded_specific__offsets": "partition:0,offset:2000"}
    assert plan(log, scan_startup_mode="earliest-offset", **options).first_offset().stopping_offsets == {
        A0: 2000,
        A1: 0,
    }


def test_a_bounded_stream_that_lost_data_stops_where_the_log_ends(log: Log) -> None:
    planner = plan(log, scan_fail__on__data__loss="false")
    available = planner.available(StreamOffset({A0: 50, A1: 20}, stopping_offsets={A0: 60, A1: 30}))
    assert available.stopping_offsets == {A0: 60, A1: 7}
    assert available.positions == {A0: 60, A1: 7}


def test_what_was_read_of_transactions_that_are_open_again_is_no_loss(log: Log) -> None:
    log.not_visible = {A0: 130}
    start = StreamOffset({A0: 120, A1: 7})
    assert plan(log).available(start) is start
    log.groups = {A0: 120, A1: 7}
    assert plan(log, properties_group_id="mine").first_offset().positions == {A0: 120, A1: 7}


def test_on_request_a_start_outside_of_the_log_is_moved_into_it(log: Log, caplog: pytest.LogCaptureFixture) -> None:
    log.groups = {A0: 5, A1: 9}
    planner = plan(log, properties_group_id="mine", scan_fail__on__data__loss="false")
    assert planner.first_offset().positions == {A0: 10, A1: 7}
    assert caplog.messages[0] == (
        "data is lost: a-0 was to start at offset 5, and the log holds 10 to 99. It starts at offset 10"
    )


def test_with_a_group_a_query_starts_where_the_group_is(log: Log) -> None:
    log.groups = {A0: 50, A1: 3}
    assert plan(log, properties_group_id="mine").first_offset() == StreamOffset(
        {A0: 50, A1: 3}, topic_ids=IDS, owner="me"
    )


@pytest.mark.parametrize("committed", [{A0: 50}, {A0: 50, A1: 8}], ids=["no offset", "an offset after the end"])
@pytest.mark.parametrize(("reset", "expected"), [("earliest", 0), ("latest", 7)])
def test_a_partition_without_a_valid_offset_starts_where_the_reset_says(
    log: Log, committed: dict[TopicPartition, int], reset: str, expected: int
) -> None:
    log.groups = committed
    planner = plan(log, properties_group_id="mine", properties_auto_offset_reset=reset)
    assert planner.first_offset() == StreamOffset({A0: 50, A1: expected}, topic_ids=IDS, owner="me")


def test_without_a_reset_such_a_partition_is_an_error_that_says_what_to_set(log: Log) -> None:
    log.groups = {A0: 5, A1: 3}
    with pytest.raises(DataLossError) as error:
        plan(log, properties_group_id="mine").first_offset()
    assert str(error.value) == (
        "a-0: startup mode 'group-offsets' gives offset 5, and the log holds 10 to 99. Say with option "
        "'properties.auto.offset.reset' where to start instead: earliest or latest"
    )


def test_a_partition_without_an_offset_to_stop_at_is_not_read(log: Log) -> None:
    options = {"scan_bounded_mode": "specific-offsets", "scan_bounded_specific__offsets": "partition:0,offset:20"}
    assert plan(log, **options).batch_splits() == splits((A0, 10, 20))
    assert plan(log, scan_startup_mode="earliest-offset", **options).first_offset().stopping_offsets == {A0: 20, A1: 0}


def test_a_batch_that_is_to_stop_after_the_end_waits_for_its_records(
    log: Log, caplog: pytest.LogCaptureFixture
) -> None:
    options = {"scan_bounded_mode": "specific-offsets", "scan_bounded_specific__offsets": "partition:0,offset:150"}

    def write_one(_: float) -> None:
        begin, end = log.logs[A0]
        log.logs[A0] = (begin, end + 1)

    assert plan(log, pause=write_one, **options).batch_splits() == splits((A0, 10, 150))
    # At once, and then each minute of 50 that pass
    assert "waiting for the records of a-0 up to offset 150" in caplog.messages[0]
    assert "its log ends at 100" in caplog.messages[0]


def test_an_initializer_may_leave_partitions_to_the_reset(log: Log) -> None:
    planner = plan(log, scan_startup_mode="support.plugins:AllButLastPartition", properties_auto_offset_reset="latest")
    assert planner.first_offset() == StreamOffset({A0: 20, A1: 7}, topic_ids=IDS, owner="me")


def test_an_initializer_that_gives_no_offset_is_named(log: Log) -> None:
    with pytest.raises(OptionsError) as error:
        plan(log, scan_startup_mode="support.plugins:NegativeOffsets").first_offset()
    assert error.value.problems == (
        "offset initializer 'support.plugins:NegativeOffsets' gave offset -2 for a-0, -2 for a-1",
    )


def test_a_stream_may_go_to_the_end(log: Log) -> None:
    assert plan(log).available(StreamOffset({A0: 50, A1: 7})) == StreamOffset(
        {A0: 100, A1: 7}, topic_ids=IDS, owner="me"
    )
    # The last look is at the ids of topics that have something new
    assert log.requests == ["topics", "offsets", "topics"]


def test_a_stream_that_has_read_all_stays_where_it_is(log: Log) -> None:
    start = StreamOffset({A0: 100, A1: 7}, start_overrides={A1: 3})
    assert plan(log).available(start) is start
    assert log.requests == ["topics", "offsets"]


def test_a_partition_that_was_added_joins_at_its_beginning(log: Log) -> None:
    log.logs[TopicPartition("a", 2)] = (3, 9)
    available = plan(log).available(StreamOffset({A0: 50, A1: 7}))
    assert available.start_overrides == {TopicPartition("a", 2): 3}
    assert available.positions[TopicPartition("a", 2)] == 9


def test_where_a_partition_joined_is_told_once(log: Log) -> None:
    log.logs[TopicPartition("a", 2)] = (3, 9)
    planner = plan(log)
    available = planner.available(StreamOffset({A0: 50, A1: 7}))
    log.logs[A0] = (10, 101)
    assert planner.available(available).start_overrides == {}


def test_a_restart_finds_where_a_partition_began_although_the_offset_log_leaves_that_micro_batch_out(log: Log) -> None:
    added = TopicPartition("a", 2)
    log.logs[added] = (3, 9)
    planner, logged = plan(log), StreamOffset({A0: 50, A1: 7})
    second = planner.available(logged)
    log.logs[added] = (3, 12)
    third = StreamOffset.from_json(planner.available(second).to_json())
    assert batch(logged, third) == splits((A0, 50, 100), (added, 3, 12))
    assert batch(second, third) == splits((added, 9, 12))
    # Spark's log has it now
    planner.on_logged(third)
    log.logs[added] = (3, 14)
    assert planner.available(third).discovered == {}


ALL_LOST = StreamOffset({A0: 5, A1: 8, TopicPartition("a", 2): 1, B0: 1})


def test_all_that_is_lost_is_one_error(log: Log) -> None:
    with pytest.raises(DataLossError) as error:
        plan(log).available(ALL_LOST)
    gone = "is gone: its topic was deleted, has fewer partitions, or no longer matches the subscription"
    assert str(error.value) == (
        f"data is lost: a-0 wants offset 5, and the log now holds 10 to 99: records were deleted; a-1 had been read up "
        f"to 8, and the log now holds 0 to 6: it was created again or truncated; a-2 {gone}; b-0 {gone}. "
        f"{DATA_LOSS_HINT}"
    )


def test_a_topic_that_was_made_again_is_known_by_its_id(log: Log) -> None:
    log.ids["a"] = "another"
    with pytest.raises(DataLossError, match=r"a-0 had been read up to 50 when its topic was deleted and created "):
        plan(log).available(StreamOffset({A0: 50, A1: 7}, topic_ids=IDS, owner="me"))


def test_brokers_without_topic_ids_do_not_say_that_a_topic_was_made_again(log: Log) -> None:
    log.ids["a"] = UNKNOWN_TOPIC_ID
    assert plan(log).first_offset().topic_ids == {}
    # An upgrade that is under way, or was taken back: what was known stays so
    assert plan(log).available(StreamOffset({A0: 50, A1: 7}, topic_ids=IDS)).topic_ids == IDS


def test_a_checkpoint_without_ids_takes_them_up(log: Log) -> None:
    assert plan(log).available(StreamOffset({A0: 50, A1: 7})).topic_ids == IDS


def test_on_request_what_is_lost_is_skipped_with_a_warning_and_counted(
    log: Log, caplog: pytest.LogCaptureFixture
) -> None:
    planner = plan(log, scan_fail__on__data__loss="false")
    available = planner.available(ALL_LOST)
    expected = StreamOffset({A0: 100, A1: 7}, start_overrides={A0: 10, A1: 0}, topic_ids=IDS, owner="me")
    assert replace(available, gone=GoneTopics()) == expected
    assert batch(ALL_LOST, available) == splits((A0, 10, 100), (A1, 0, 7))
    assert planner.progress().skipped == 5
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
        "data is lost: a-0 wants offset 5, and the log now holds 10 to 99: records were deleted. It is read from "
        "offset 10",
        "data is lost: a-1 had been read up to 8, and the log now holds 0 to 6: it was created again or truncated. It "
        "is read from offset 0",
        *(
            f"data is lost: {partition} is gone: its topic was deleted, has fewer partitions, or no longer matches the "
            f"subscription. It is no longer read; if it is back within 7 days, it is read on from where it was left"
            for partition in ("a-2", "b-0")
        ),
    ]


def test_a_topic_that_is_deleted_between_two_looks_at_the_topics_is_noticed(log: Log) -> None:
    planner = plan(log, **DISCOVER_ONCE, scan_fail__on__data__loss="false")
    start = planner.available(StreamOffset({A0: 100, A1: 0}))
    log.logs = {A0: (10, 100)}
    assert planner.available(start).positions == {A0: 100}


def test_a_bounded_stream_goes_no_further_than_its_stop(log: Log) -> None:
    stop = {A0: 60, A1: 1000}
    available = plan(log).available(StreamOffset({A0: 50, A1: 0}, stopping_offsets=stop))
    assert available == StreamOffset({A0: 60, A1: 7}, stopping_offsets=stop, topic_ids=IDS, owner="me")


def test_a_bounded_stream_that_is_past_its_stop_stays_where_it_is(log: Log) -> None:
    stop = {A0: 20, A1: 0}
    assert plan(log).available(StreamOffset({A0: 50, A1: 5}, stopping_offsets=stop)).positions == {A0: 50, A1: 5}


def test_a_bounded_stream_reads_nothing_of_partitions_that_are_added_later(log: Log) -> None:
    log.logs[TopicPartition("a", 2)] = (3, 9)
    available = plan(log).available(StreamOffset({A0: 50, A1: 7}, stopping_offsets={A0: 100, A1: 7}))
    assert batch(StreamOffset({A0: 50, A1: 7}), available) == splits((A0, 50, 100))


def test_available_now_reads_nothing_that_came_later(log: Log) -> None:
    planner = plan(log)
    last = planner.available(StreamOffset({A0: 50, A1: 7})).positions
    log.logs |= {A0: (10, 500), A1: (0, 8), TopicPartition("a", 2): (3, 9)}
    start = StreamOffset({A0: 50, A1: 7})
    available = planner.available(start, last)
    assert available.positions == {A0: 100, A1: 7}
    assert batch(start, available) == splits((A0, 50, 100))


def test_available_now_reads_a_partition_that_joined_before_it_began(log: Log) -> None:
    planner = plan(log)
    available = planner.available(StreamOffset({A0: 100}), {A0: 100, A1: 7})
    assert (available.positions, available.start_overrides) == ({A0: 100, A1: 7}, {A1: 0})


def test_without_a_limit_a_micro_batch_takes_all(log: Log) -> None:
    available = StreamOffset({A0: 100, A1: 7}, topic_ids=IDS, owner="me")
    assert plan(log).next_end(StreamOffset({A0: 10, A1: 0}), available, draining=False) == available


def test_a_limit_holds_over_all_partitions(log: Log) -> None:
    start, planner = StreamOffset({A0: 10, A1: 0}), plan(log, scan_max__records__per__batch=20)
    limited = planner.next_end(start, StreamOffset({A0: 100, A1: 7}, stopping_offsets={A0: 100}), draining=False)
    assert sum(map(len, (found for split in batch(start, limited) for found in split.ranges))) == 20
    assert limited.stopping_offsets == {A0: 100}


def test_a_limit_counts_what_joined_from_where_it_joined(log: Log) -> None:
    start, planner = StreamOffset({A0: 100}), plan(log, scan_max__records__per__batch=2)
    limited = planner.next_end(start, StreamOffset({A0: 100, A1: 7}, start_overrides={A1: 3}), draining=False)
    assert limited == StreamOffset({A0: 100, A1: 5}, start_overrides={A1: 3})
    assert batch(start, limited) == splits((A1, 3, 5))


def test_a_micro_batch_that_takes_nothing_leaves_the_stream_where_it_is(log: Log) -> None:
    planner = plan(log, scan_min__records__per__batch=1000)
    start = planner.next_end(StreamOffset({A0: 10, A1: 0}), StreamOffset({A0: 99, A1: 7}), draining=False)
    assert planner.next_end(start, StreamOffset({A0: 100, A1: 7}, topic_ids=IDS, owner="me"), draining=False) is start


def test_a_micro_batch_starts_joined_partitions_where_they_joined() -> None:
    end = StreamOffset({A0: 9, A1: 7}, start_overrides={A1: 3})
    assert batch(StreamOffset({A0: 5}), end) == splits((A0, 5, 9), (A1, 3, 7))


def test_a_replayed_micro_batch_has_the_same_splits() -> None:
    start, end = StreamOffset({A0: 5}), StreamOffset({A0: 9, A1: 7}, start_overrides={A1: 3})
    stored = StreamOffset.from_json(start.to_json()), StreamOffset.from_json(end.to_json())
    assert batch(*stored) == batch(start, end)


def test_a_partition_that_lost_data_begins_where_it_goes_on() -> None:
    assert batch(StreamOffset({A1: 5}), StreamOffset({A1: 9}, start_overrides={A1: 7})) == splits((A1, 7, 9))


@pytest.mark.parametrize("option", [{}, {"scan_min__records__per__batch": 10}, {"scan_max__records__per__batch": 3}])
def test_what_joined_in_one_batch_is_not_read_again_in_the_next(log: Log, option: dict[str, Any]) -> None:
    log.logs[TopicPartition("a", 2)] = (3, 9)
    planner = plan(log, **option)
    start = StreamOffset({A0: 100, A1: 7})
    for _ in range(5):
        end = planner.next_end(start, planner.available(start), draining=False)
        assert all(end.positions[partition] >= offset for partition, offset in start.positions.items())
        start = end
    assert start.positions == {A0: 100, A1: 7, TopicPartition("a", 2): 9}
    assert planner.next_end(start, planner.available(start), draining=False) is start


def test_a_loss_is_told_once_though_there_is_little_to_read(log: Log, caplog: pytest.LogCaptureFixture) -> None:
    log.logs = {A0: (60, 61), A1: (0, 7)}
    planner = plan(log, scan_fail__on__data__loss="false", scan_min__records__per__batch=1000)
    start = StreamOffset({A0: 61, A1: 6}, topic_ids=IDS)
    start = planner.next_end(start, planner.available(start), draining=False)
    log.logs[A0] = (70, 71)
    for _ in range(3):
        start = planner.next_end(start, planner.available(start), draining=False)
    assert start.positions == {A0: 71, A1: 7}
    assert planner.progress().skipped == 9
    assert len(caplog.messages) == 1


def test_a_topic_that_was_made_again_is_read_once(log: Log) -> None:
    clock = Clock()
    planner = plan(log, clock, scan_fail__on__data__loss="false")
    start = planner.available(StreamOffset({A0: 50, A1: 0}, topic_ids=IDS))
    log.ids["a"], log.logs = "another", {A0: (0, 4), A1: (0, 2)}
    again = planner.available(start)
    assert (again.start_overrides, again.positions, again.topic_ids) == (
        {A0: 0, A1: 0},
        {A0: 4, A1: 2},
        {"a": "another"},
    )
    clock.now += 1
    assert planner.available(again) is again


def test_what_a_bounded_stream_does_not_want_may_be_lost(log: Log) -> None:
    log.logs = {A0: (60, 100), A1: (5, 7)}
    start = StreamOffset({A0: 50, A1: 0}, stopping_offsets={A0: 50, A1: 0}, topic_ids=IDS)
    assert plan(log).available(start) is start
    lenient = plan(log, scan_fail__on__data__loss="false")
    lenient.available(StreamOffset({A0: 40, A1: 0}, stopping_offsets={A0: 50, A1: 0}, topic_ids=IDS))
    assert lenient.progress().skipped == 10


def test_a_topic_that_was_made_again_since_the_topics_were_looked_up_is_noticed_before_it_is_read(log: Log) -> None:
    clock = Clock()
    planner = plan(log, clock, **DISCOVER_ONCE)
    start = planner.available(StreamOffset({A0: 50, A1: 7}))
    log.ids["a"], log.logs[A0] = "another", (0, 300)
    with pytest.raises(
        DataLossError, match=r"a-0 had been read up to 100 when its topic was deleted and created again"
    ):
        planner.available(start)


@pytest.mark.parametrize("ids", [IDS, {}], ids=["an id that is known", "an old broker"])
def test_a_log_that_ends_early_for_a_moment_is_waited_for(
    log: Log, caplog: pytest.LogCaptureFixture, ids: dict[str, str]
) -> None:
    start, clock = StreamOffset({A0: 100, A1: 7}, topic_ids=ids), Clock()
    began = clock.now
    log.logs[A0], log.ids["a"] = (10, 90), ids.get("a", UNKNOWN_TOPIC_ID)

    def pause(seconds: float) -> None:
        clock.now += seconds
        if clock.now - began > RECEDED_PATIENCE_S / 2:
            log.logs[A0] = (10, 130)

    available = plan(log, clock, pause, scan_fail__on__data__loss="false").available(start)
    assert (available.positions, available.start_overrides) == ({A0: 130, A1: 7}, {})
    assert RECEDED_PATIENCE_S / 2 < clock.now - began < RECEDED_PATIENCE_S
    assert caplog.messages == []


def test_a_topic_that_was_made_again_is_not_waited_for(log: Log) -> None:
    log.logs[A0], log.ids["a"] = (0, 90), "another"
    pauses: list[float] = []
    with pytest.raises(
        DataLossError, match=r"a-0 had been read up to 100 when its topic was deleted and created again"
    ):
        plan(log, Clock(), pauses.append).available(StreamOffset({A0: 100, A1: 7}, topic_ids=IDS))
    assert pauses == []


def test_a_micro_batch_of_a_topic_that_was_made_again_is_not_repeated(log: Log) -> None:
    start, end = StreamOffset({A0: 50, A1: 0}), StreamOffset({A0: 90, A1: 0}, topic_ids=IDS)
    planned = batch(start, end, **{"scan.split.max-records": "30"})
    assert plan(log).repeated(end, planned) == planned
    log.ids["a"] = "another"
    with pytest.raises(DataLossError) as error:
        plan(log).repeated(end, planned)
    assert str(error.value) == (
        "data is lost: a-0 was to be read again from offset 50 to 89, in a micro-batch that had not ended when its "
        f"topic was deleted and created again. {DATA_LOSS_HINT}"
    )


def test_on_request_it_is_repeated_without_that_topic_in_as_many_splits(
    log: Log, caplog: pytest.LogCaptureFixture
) -> None:
    log.logs[B0], log.ids["a"] = (0, 300), "another"
    start = StreamOffset({A0: 50, A1: 0, B0: 0})
    end = StreamOffset({A0: 90, A1: 0, B0: 30}, topic_ids={**IDS, "b": "id of b"})
    planner = plan(log, topic="a;b", scan_fail__on__data__loss="false")
    repeated = planner.repeated(end, batch(start, end, **{"scan.split.max-records": "30"}))
    assert [split.ranges for split in repeated] == [(), (), (OffsetRange(B0, 0, 30),)]
    assert planner.progress().skipped == 40
    assert caplog.messages[0].endswith("created again. The micro-batch is repeated without them")


def test_a_micro_batch_that_older_versions_planned_is_repeated_as_it_is(log: Log) -> None:
    start, end = StreamOffset({A0: 50, A1: 0}), StreamOffset({A0: 90, A1: 0})
    planner, planned = plan(log), batch(start, end)
    assert planner.repeated(end, planned) == planned
    assert log.requests == []


def test_a_log_that_was_cut_off_goes_on_at_its_end(log: Log) -> None:
    planner = plan(log, scan_fail__on__data__loss="false")
    available = planner.available(StreamOffset({A0: 120, A1: 7}, topic_ids=IDS))
    assert (available.start_overrides, available.positions) == ({A0: 100}, {A0: 100, A1: 7})


def test_a_micro_batch_has_as_many_splits_as_are_asked_for() -> None:
    found = batch(StreamOffset({A0: 0}), StreamOffset({A0: 10}), **{"scan.parallelism": "4"})
    assert [len(split.ranges[0]) for split in found] == [2, 2, 2, 2, 2]
    found = batch(StreamOffset({A0: 0}), StreamOffset({A0: 10}), **{"scan.split.max-records": "5"})
    assert [len(split.ranges[0]) for split in found] == [5, 5]


def test_on_request_deleted_records_reset_a_stream_to_the_end(log: Log, caplog: pytest.LogCaptureFixture) -> None:
    planner = plan(log, scan_fail__on__data__loss="false", properties_auto_offset_reset="latest")
    available = planner.available(StreamOffset({A0: 5, A1: 3}, topic_ids=IDS))
    assert available.start_overrides == {A0: 100}
    assert available.positions == {A0: 100, A1: 7}
    assert planner.progress().skipped == 95
    assert caplog.messages[0].endswith("records were deleted. It is read from offset 100")


def test_what_is_behind_open_transactions_is_lag(log: Log) -> None:
    log.not_visible = {A0: 130}
    planner = plan(log)
    start = StreamOffset({A0: 100, A1: 7})
    assert planner.available(start) is start
    assert planner.progress().high_watermarks == {A0: 130}
    # Ended, and not read yet
    log.logs[A0], log.not_visible = (10, 130), {}
    planner.available(start)
    assert planner.progress().high_watermarks == {}


def test_what_a_bounded_stream_does_not_want_is_no_lag(log: Log) -> None:
    log.not_visible = {A0: 130, A1: 30}
    planner = plan(log)
    planner.available(StreamOffset({A0: 100, A1: 7}, stopping_offsets={A0: 100, A1: 20}))
    assert planner.progress().high_watermarks == {A1: 20}


def test_high_watermarks_are_looked_up_now_and_then(log: Log) -> None:
    clock = Clock()
    planner, start = plan(log, clock), StreamOffset({A0: 100, A1: 7})
    planner.available(start)
    log.not_visible = {A0: 130}
    clock.now += LAG_INTERVAL_S / 2
    planner.available(start)
    assert planner.progress().high_watermarks == {}
    clock.now += LAG_INTERVAL_S / 2
    planner.available(start)
    assert planner.progress().high_watermarks == {A0: 130}
