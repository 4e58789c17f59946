from __future__ import annotations

import pyarrow as pa
import pytest

from millrace.contracts import Partitioner, Payloads
from millrace.errors import MessageError
from millrace.records.producer_records import ProducerRecords
from millrace.sink.writer.partition import choose_partitions


class Says(Partitioner):
    """Answers what it was made with, and remembers what it was asked."""

    def __init__(self, *answer: int | None) -> None:
        super().__init__()
        self.answer = answer
        self.asked: list[tuple[object, ...]] = []

    def partition(self, topic: str, keys: Payloads, values: Payloads, partition_count: int) -> pa.Int32Array:
        self.asked.append((topic, list(keys.to_list()), list(values.to_list()), partition_count))
        return pa.array(self.answer, pa.int32())


def records(
    count: int = 3,
    *,
    asked: list[int | None] | None = None,
    keys: list[bytes | None] | None = None,
    column: str = "partition",
) -> ProducerRecords:
    return ProducerRecords(
        "orders",
        Payloads([b"v"] * count),
        keys=None if keys is None else Payloads(keys),
        partitions=None if asked is None else pa.array(asked, pa.int32()),
        partition_column=column,
    )


def chosen(partitioner: Says, found: ProducerRecords, count: int = 4) -> list[int | None] | None:
    partitions = choose_partitions(partitioner, "acme", found, count)
    assert partitions is None or partitions.type == pa.int32()
    return None if partitions is None else partitions.to_pylist()


def test_the_partitioner_decides() -> None:
    assert chosen(Says(3, 0, None), records()) == [3, 0, None]


def test_when_the_client_decides_for_all_there_is_nothing_to_hand_on() -> None:
    assert chosen(Says(None, None, None), records()) is None


def test_no_records_need_no_partitions() -> None:
    assert chosen(Says(), records(0)) is None


def test_the_partitioner_sees_topic_keys_values_and_the_count() -> None:
    partitioner = Says(0, 0)
    chosen(partitioner, records(2, keys=[b"k", None]), 7)
    assert partitioner.asked == [("orders", [b"k", None], [b"v", b"v"], 7)]


def test_records_without_keys_have_null_keys() -> None:
    partitioner = Says(0, 0)
    chosen(partitioner, records(2))
    assert partitioner.asked[0][1] == [None, None]


def test_the_column_partition_wins_and_the_partitioner_is_not_asked() -> None:
    partitioner = Says(0, 0, 0)
    assert chosen(partitioner, records(asked=[1, 2, 3])) == [1, 2, 3]
    assert partitioner.asked == []


def test_the_partitioner_decides_where_the_column_is_null() -> None:
    assert chosen(Says(0, 3, None), records(asked=[1, None, None])) == [1, 3, None]


@pytest.mark.parametrize(("answer", "shown"), [((0, 4, 1), 4), ((0, -1, 1), -1)])
def test_a_partition_out_of_range_names_the_partitioner(answer: tuple[int, ...], shown: int) -> None:
    with pytest.raises(MessageError) as error:
        chosen(Says(*answer), records())
    assert str(error.value) == (
        f"partitioner 'acme' gave partition {shown} of topic 'orders', which has partitions 0 to 3"
    )


@pytest.mark.parametrize(("asked", "shown"), [([0, 4, 1], 4), ([None, -1, 1], -1)])
def test_a_partition_out_of_range_in_the_column_names_the_column(asked: list[int | None], shown: int) -> None:
    with pytest.raises(MessageError) as error:
        chosen(Says(0, 0, 0), records(asked=asked, column="p"))
    assert str(error.value) == f"column 'p' gave partition {shown} of topic 'orders', which has partitions 0 to 3"


@pytest.mark.parametrize("answer", [(0,), (0, 0, 0, 0), ()])
def test_an_answer_of_another_length_names_the_partitioner(answer: tuple[int, ...]) -> None:
    with pytest.raises(MessageError) as error:
        chosen(Says(*answer), records())
    assert str(error.value) == f"partitioner 'acme' gave {len(answer)} partitions for 3 records"
