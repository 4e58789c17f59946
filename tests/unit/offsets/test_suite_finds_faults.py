"""The conformance suite fails for offset initializers that break the contract."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
import pytest

from millrace.contracts import OffsetInitializer, OffsetLookup, TopicPartition
from millrace.testing import OffsetInitializerSuite

Offsets = Callable[[Any, Any], Mapping[TopicPartition, Any]]


def suite_of(answer: Offsets) -> OffsetInitializerSuite:
    class Faulty(OffsetInitializer):
        def offsets(self, partitions: Collection[TopicPartition], lookup: OffsetLookup) -> Mapping[TopicPartition, int]:
            return answer(partitions, lookup)

    class Suite(OffsetInitializerSuite):
        def make_initializer(self) -> OffsetInitializer:
            return Faulty()

    return Suite()


@pytest.mark.parametrize(("offset", "fault"), [(-2, "below 0"), (1.0, "JSON"), (np.int64(1), "JSON"), (None, "JSON")])
def test_what_is_not_an_offset(offset: Any, fault: str) -> None:
    with pytest.raises(AssertionError, match=fault):
        suite_of(lambda partitions, _: dict.fromkeys(partitions, offset)).test_offsets_are_plain_numbers_from_zero()


def test_partitions_that_nobody_asked_for() -> None:
    suite = suite_of(lambda _, lookup: lookup.begin([TopicPartition("orders", 0), TopicPartition("orders", 1)]))
    with pytest.raises(AssertionError):
        suite.test_no_partitions()
    with pytest.raises(AssertionError):
        suite.test_one_partition_of_many()


def test_a_request_for_each_partition() -> None:
    suite = suite_of(lambda partitions, lookup: {p: lookup.end([p])[p] for p in partitions})
    with pytest.raises(AssertionError, match="each look-up is a request"):
        suite.test_all_partitions_are_looked_up_at_once()


def test_more_than_the_lookup_offers() -> None:
    with pytest.raises(AttributeError, match="consumer"):
        suite_of(lambda _, lookup: lookup.consumer.positions()).test_only_partitions_that_were_asked_for_get_an_offset()


def test_a_collection_that_is_taken_for_a_list() -> None:
    suite = suite_of(lambda partitions, lookup: lookup.begin([partitions[index] for index in range(len(partitions))]))
    with pytest.raises(TypeError):
        suite.test_any_collection_of_partitions(set)


def test_a_collection_that_is_emptied() -> None:
    suite = suite_of(lambda partitions, _: {partitions.pop(): 0 for _ in range(len(partitions))})
    with pytest.raises(AssertionError, match="belongs to the caller"):
        suite.test_any_collection_of_partitions(list)
