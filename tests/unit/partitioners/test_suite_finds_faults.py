"""The conformance suite fails for partitioners that break the contract."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import pyarrow as pa
import pytest

from millrace.contracts import Partitioner, Payloads, RecordPartitioner
from millrace.testing import PartitionerSuite

Partition = Callable[[int, int], pa.Array]


def suite_of(partitioner: type[Partitioner]) -> PartitionerSuite:
    class Suite(PartitionerSuite):
        def make_partitioner(self) -> Partitioner:
            return partitioner()

    return Suite()


def suite_answering(answer: Partition) -> PartitionerSuite:
    class Faulty(Partitioner):
        def partition(self, topic: str, keys: Payloads, values: Payloads, partition_count: int) -> pa.Array:
            return answer(len(values), partition_count)

    return suite_of(Faulty)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (lambda records, _: pa.array([0] * records, pa.int64()), "int64"),
        (lambda records, _: [0] * records, "expected a pyarrow array"),
        (lambda records, _: pa.array([0] * (records + 1), pa.int32()), "=="),
        (lambda records, count: pa.array([count] * records, pa.int32()), "expected partitions from 0 to 2"),
        (lambda records, _: pa.array([-1] * records, pa.int32()), "expected partitions from 0 to 2"),
    ],
)
def test_wrong_answers(answer: Partition, fault: str) -> None:
    with pytest.raises(AssertionError, match=fault):
        suite_answering(answer).test_every_record_gets_a_partition(0, 1, 3)


def test_an_empty_batch_that_gets_a_partition() -> None:
    with pytest.raises(AssertionError):
        suite_answering(lambda records, _: pa.array([0] * max(records, 1), pa.int32())).test_empty_batch()


def test_a_partition_count_that_is_remembered() -> None:
    class Remembering(RecordPartitioner):
        largest = 0

        def partition_record(self, topic: str, key: bytes | None, value: bytes | None, partition_count: int) -> int:
            self.largest = max(self.largest, partition_count)
            return self.largest - 1

    with pytest.raises(AssertionError, match="expected partitions from 0 to 1"):
        suite_of(Remembering).test_topics_of_different_sizes_in_turn()


def test_choices_that_depend_on_more_than_the_task() -> None:
    turn = itertools.count()
    suite = suite_answering(lambda records, count: pa.array([next(turn) % count] * records, pa.int32()))
    with pytest.raises(AssertionError, match="alone"):
        suite.test_a_repeated_task_makes_the_same_choices()
    with pytest.raises(AssertionError):
        suite.test_an_executor_makes_the_same_choices()


def test_payloads_that_are_changed() -> None:
    class Changing(Partitioner):
        def partition(self, topic: str, keys: Payloads, values: Payloads, partition_count: int) -> pa.Int32Array:
            keys.to_list().sort(key=str)
            return pa.nulls(len(values), pa.int32())

    with pytest.raises(AssertionError):
        suite_of(Changing).test_payloads_are_left_as_they_were()


@dataclass
class NotFrozen:
    pass


@dataclass(frozen=True)
class NotDeclared:
    plain: int = 1


@dataclass(frozen=True)
class NotPickled:
    function: Callable[[], int] = field(default_factory=lambda: lambda: 1)


def suite_with(options: type) -> PartitionerSuite:
    class WithOptions(Partitioner):
        Options = options

        def partition(self, topic: str, keys: Payloads, values: Payloads, partition_count: int) -> pa.Int32Array:
            return pa.nulls(len(values), pa.int32())

    return suite_of(WithOptions)


def test_options_that_are_not_frozen() -> None:
    with pytest.raises(AssertionError, match="must be frozen"):
        suite_with(NotFrozen).test_options_are_a_frozen_dataclass()


def test_options_without_a_public_name() -> None:
    with pytest.raises(AssertionError, match=r"millrace\.options\.option"):
        suite_with(NotDeclared).test_every_option_has_a_public_name()


def test_options_that_do_not_pickle() -> None:
    with pytest.raises(AssertionError, match=r"the options pickled, which fails: .* at the top level"):
        suite_with(NotPickled).test_options_survive_pickling()
