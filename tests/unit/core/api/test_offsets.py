from __future__ import annotations

import pytest

from millrace import KafkaOffsetResetStrategy, KafkaOffsetsInitializer, KafkaTopicPartition
from millrace.errors import OptionsError

NONE, EARLIEST, LATEST = (
    KafkaOffsetResetStrategy.NONE,
    KafkaOffsetResetStrategy.EARLIEST,
    KafkaOffsetResetStrategy.LATEST,
)


@pytest.mark.parametrize(
    ("offsets", "starting"),
    [
        (KafkaOffsetsInitializer.earliest(), {"scan.startup.mode": "earliest-offset"}),
        (KafkaOffsetsInitializer.latest(), {"scan.startup.mode": "latest-offset"}),
        (
            KafkaOffsetsInitializer.timestamp(1_767_323_045_678),
            {"scan.startup.mode": "timestamp", "scan.startup.timestamp-millis": 1_767_323_045_678},
        ),
        (
            KafkaOffsetsInitializer.timestamp("2026-11-27 16:00"),
            {"scan.startup.mode": "timestamp", "scan.startup.timestamp": "2026-11-27 16:00"},
        ),
        (
            KafkaOffsetsInitializer.committed_offsets(),
            {"scan.startup.mode": "group-offsets", "properties.auto.offset.reset": "none"},
        ),
        (
            KafkaOffsetsInitializer.committed_offsets(EARLIEST),
            {"scan.startup.mode": "group-offsets", "properties.auto.offset.reset": "earliest"},
        ),
        (
            KafkaOffsetsInitializer.offsets({("b", 1): 7, KafkaTopicPartition("a", 0): "latest"}),
            {
                "scan.startup.mode": "specific-offsets",
                "scan.startup.specific-offsets": "topic:a,partition:0,offset:latest;topic:b,partition:1,offset:7",
                "properties.auto.offset.reset": "earliest",
            },
        ),
        (
            KafkaOffsetsInitializer.offsets({("a", 0): 1}, LATEST),
            {
                "scan.startup.mode": "specific-offsets",
                "scan.startup.specific-offsets": "topic:a,partition:0,offset:1",
                "properties.auto.offset.reset": "latest",
            },
        ),
        (
            KafkaOffsetsInitializer("by-tide", {"shore": "north"}),
            {"scan.startup.mode": "by-tide", "scan.startup.shore": "north"},
        ),
    ],
)
def test_a_place_to_start_is_options(offsets: KafkaOffsetsInitializer, starting: dict[str, object]) -> None:
    assert offsets.starting_options() == starting


@pytest.mark.parametrize(
    ("offsets", "stopping"),
    [
        (KafkaOffsetsInitializer.earliest(), {"scan.bounded.mode": "earliest-offset"}),
        (KafkaOffsetsInitializer.latest(), {"scan.bounded.mode": "latest-offset"}),
        (
            KafkaOffsetsInitializer.timestamp(5),
            {"scan.bounded.mode": "timestamp", "scan.bounded.timestamp-millis": 5},
        ),
        (KafkaOffsetsInitializer.committed_offsets(), {"scan.bounded.mode": "group-offsets"}),
        (KafkaOffsetsInitializer.committed_offsets(NONE), {"scan.bounded.mode": "group-offsets"}),
        (
            KafkaOffsetsInitializer.offsets({("a", 0): 1}),
            {
                "scan.bounded.mode": "specific-offsets",
                "scan.bounded.specific-offsets": "topic:a,partition:0,offset:1",
            },
        ),
    ],
)
def test_a_place_to_stop_is_options_without_a_reset(
    offsets: KafkaOffsetsInitializer, stopping: dict[str, object]
) -> None:
    assert offsets.stopping_options() == stopping


@pytest.mark.parametrize(
    "offsets",
    [KafkaOffsetsInitializer.committed_offsets(LATEST), KafkaOffsetsInitializer.offsets({("a", 0): 1}, LATEST)],
)
def test_a_reset_strategy_is_refused_where_reading_stops(offsets: KafkaOffsetsInitializer) -> None:
    with pytest.raises(ValueError, match="the reset strategy latest says where to start, not where to stop"):
        offsets.stopping_options()


@pytest.mark.parametrize("wrong", ["a", ("a",), ("a", "0"), (0, "a"), ("a", 0, 1)])
def test_what_is_no_partition_is_refused_at_once(wrong: object) -> None:
    with pytest.raises(OptionsError) as error:
        KafkaOffsetsInitializer.offsets({wrong: 1})
    assert error.value.problems == (
        f"offsets: expected partitions as (topic, number), such as ('orders', 0); got {wrong!r}",
    )
