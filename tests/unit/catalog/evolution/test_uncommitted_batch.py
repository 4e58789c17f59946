"""The micro-batch that a checkpoint has planned but not committed."""

from __future__ import annotations

import json
from typing import Any

from millrace_catalog.evolution.uncommitted_batch import UncommittedRange, uncommitted_ranges


class Checkpoint:
    """The files of a checkpoint: offsets by batch, a list of sources each, and the batches that are done."""

    def __init__(self, offsets: dict[int, list[Any]], done: int) -> None:
        self._offsets = offsets
        self._done = done

    def names(self, name: str = "") -> list[str]:
        found = list(map(str, self._offsets)) if name == "offsets" else list(map(str, range(self._done)))
        return ["9.tmp", *found] if found else []

    def read(self, name: str) -> str:
        lines = ["v1", '{"batchWatermarkMs":0}', *map(json.dumps, self._offsets[int(name.partition("/")[2])])]
        return "\n".join(lines)


def at(*offsets: int, topic: str = "orders", **more: Any) -> dict[str, Any]:
    return {"v": 1, "topics": {topic: {str(partition): offset for partition, offset in enumerate(offsets)}}, **more}


def test_nothing_is_planned() -> None:
    assert uncommitted_ranges(Checkpoint({}, 0), "orders") == []
    assert uncommitted_ranges(Checkpoint({0: [at(5)], 1: [at(7)]}, 2), "orders") == []


def test_from_where_the_one_before_ended() -> None:
    planned = Checkpoint({9: [at(5, 6)], 10: [at(7, 6, 3, **{"from": {"orders": {"2": 1}}})]}, 10)
    assert uncommitted_ranges(planned, "orders") == [UncommittedRange(0, 5, 7), UncommittedRange(2, 1, 3)]


def test_the_first_one_begins_where_the_log_does() -> None:
    assert uncommitted_ranges(Checkpoint({0: [at(5)]}, 0), "orders") == [UncommittedRange(0, None, 5)]


def test_of_several_sources_all_count_that_read_the_topic() -> None:
    other = at(1, topic="payments")
    planned = Checkpoint({0: [at(5), other, at(3), "0"], 1: [at(7), other, at(4), "1"]}, 1)
    assert uncommitted_ranges(planned, "orders") == [UncommittedRange(0, 3, 7)]
