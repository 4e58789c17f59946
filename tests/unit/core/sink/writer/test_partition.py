from __future__ import annotations

import pyarrow as pa
import pytest

from millrace.contracts import Partitioner, Payloads
from millrace.errors import MessageError
from millrace.records.producer_records import ProducerRecords
from millrace.sink.writer.partition import choose_partitions


class ConstantPartitioner(Partitioner):
    """Return the same partitions each time, and records its arguments."""

    def __init__(self, *answer: int | None) -> None:
        super().__init__()
        self.answer = answer
        self.calls: list[tuple[object, ...]] = []

    def partition(self, topic: str, keys: Payloads, values: Payloads, partition_count: int) -> pa.Int32Array:
        self.calls.append((topic, list(keys.to_list()), list(values.to_list()), partition_count))
        return pa.array(self.answer, pa.int32())


def records(
    count: int = 3,
    *,
    requested: list[int | None] | None = None,
    keys: list[bytes | None] | None = None,
    column: str = "partition",
) -> ProducerRecords:
    return ProducerRecords(
        "orders",
        Payloads([b"v"] * count),
        keys=None if keys is None else Payloads(keys),
        partitions=None if requested is None else pa.array(requested, pa.int32()),
        partition_column=column,
    )


def partitions_of(partitioner: ConstantPartitioner, found: ProducerRecords, count: int = 4) -> list[int | None] | None:
    partitions = choose_partitions(partitioner, "acme", found, count)
    assert partitions is None or partitions.type == pa.int32()
    return None if partitions is None else partitions.to_pylist()


def test_the_partitioner_decides() -> None:
    assert partitions_of(ConstantPartitioner(3, 0, None), records()) == [3, 0, None]


def test_when_the_client_decides_for_all_there_is_nothing_to_hand_on() -> None:
    assert partitions_of(ConstantPartitioner(None, None, None), records()) is None


def test_no_records_need_no_partitions() -> None:
    assert partitions_of(ConstantPartitioner(), records(0)) is None


def test_the_partitioner_sees_topic_keys_values_and_the_count() -> None:
    partitioner = ConstantPartitioner(0, 0)
    partitions_of(partitioner, records(2, keys=[b"k", None]), 7)
    assert partitioner.calls == [("orders", [b"k", None], [b"v", b"v"], 7)]


def test_records_without_keys_have_null_keys() -> None:
    partitioner = ConstantPartitioner(0, 0)
    partitions_of(partitioner, records(2))
    assert partitioner.calls[0][1] == [None, None]


def test_the_column_partition_wins_and_the_partitioner_is_not_asked() -> None:
    partitioner = ConstantPartitioner(0, 0, 0)
    assert partitions_of(partitioner, records(requested=[1, 2, 3])) == [1, 2, 3]
    assert partitioner.calls == []


def test_the_partitioner_decides_where_the_column_is_null() -> None:
    assert partitions_of(ConstantPartitioner(0, 3, None), records(requested=[1, None, None])) == [1, 3, None]


@pytest.mark.parametrize(("answer", "shown"), [((0, 4, 1), 4), ((0, -1, 1), -1)])
def test_a_partition_out_of_range_names_the_partitioner(answer: tuple[int, ...], shown: int) -> None:
    with pytest.raises(MessageError) as error:
        partitions_of(ConstantPartitioner(*answer), records())
    assert str(error.value) == (
        f"partitioner 'acme' gave partition {shown} of topic 'orders', which has partitions 0 to 3"
    )


@pytest.mark.parametrize(("requested", "shown"), [([0, 4, 1], 4), ([None, -1, 1], -1)])
def test_a_partition_out_of_range_in_the_column_names_the_column(requested: list[int | None], shown: int) -> None:
    with pytest.raises(MessageError) as error:
        partitions_of(ConstantPartitioner(0, 0, 0), records(requested=requested, column="p"))
    assert str(error.value) == f"column 'p' gave partition {shown} of topic 'orders', which has partitions 0 to 3"


@pytest.mark.parametrize("answer", [(0,), (0, 0, 0, 0), ()])
def test_an_answer_of_another_length_names_the_partitioner(answer: tuple[int, ...]) -> None:
    with pytest.raises(MessageError) as error:
        partitions_of(ConstantPartitioner(*answer), records())
    assert str(error.value) == f"partitioner 'acme' gave {len(answer)} partitions for 3 records"


def test_a_column_of_another_integer_type_may_name_partitions() -> None:
    values = Payloads([b"a", b"b"])
    named = ProducerRecords("t", values, partitions=pa.array([3, None], pa.int64()))
    chosen = choose_partitions(ConstantPartitioner(1, 1), "constant", named, 4)
    assert chosen == pa.array([3, 1], pa.int32())
