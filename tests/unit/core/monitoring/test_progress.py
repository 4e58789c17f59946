from __future__ import annotations

import json

import pytest

from millrace.contracts import TopicPartition
from millrace.monitoring.progress import GroupProgress, PlanProgress, ReadProgress
from millrace.monitoring.split_report import PartitionCounts

A0, B1 = TopicPartition("a", 0), TopicPartition("b", 1)


def test_what_was_read_survives_the_progress() -> None:
    read = ReadProgress(
        {A0: PartitionCounts(10, 100, 2, None, 7, 1), B1: PartitionCounts()}, 1.5, 15.0, 40, 3, {"c": {"rx": 1}}
    )
    assert ReadProgress.from_json(json.loads(json.dumps(read.to_json()))) == read


@pytest.mark.parametrize("group", [GroupProgress(), GroupProgress({A0: 5, B1: 6}, 2, 1)])
def test_what_was_planned_survives_the_progress(group: GroupProgress) -> None:
    plan = PlanProgress(4, group)
    assert PlanProgress.from_json(json.loads(json.dumps(plan.to_json()))) == plan


def test_what_is_behind_open_transactions_survives_the_progress() -> None:
    plan = PlanProgress(4, None, {A0: 5, B1: 6})
    assert plan.to_json() == {"skipped": 4, "high_watermarks": {"a": {"0": 5}, "b": {"1": 6}}}
    assert PlanProgress.from_json(plan.to_json()).high_watermarks == plan.high_watermarks


def test_without_a_group_nothing_is_said_of_commits() -> None:
    assert PlanProgress(4).to_json() == {"skipped": 4}


def test_what_a_progress_lacks_is_zero() -> None:
    assert ReadProgress.from_json({}) == ReadProgress()
    assert PlanProgress.from_json({}) == PlanProgress(0, GroupProgress())
