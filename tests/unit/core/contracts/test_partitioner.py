from __future__ import annotations

import pyarrow as pa
import pytest

from millrace.contracts import NoOptions, Partitioner, Payloads, Plugin, RecordPartitioner


class ByKeyLength(RecordPartitioner):
    def partition_record(self, topic: str, key: bytes | None, value: bytes | None, partition_count: int) -> int | None:
        return None if key is None else len(key) % partition_count


def test_a_record_partitioner_is_asked_for_each_record_in_order() -> None:
    chosen = ByKeyLength().partition("t", Payloads([b"", b"aaa", None, b"a"]), Payloads.nulls(4), 2)
    assert chosen.type == pa.int32()
    assert chosen.to_pylist() == [0, 1, None, 1]


def test_a_record_partitioner_takes_no_records() -> None:
    chosen = ByKeyLength().partition("t", Payloads([]), Payloads([]), 2)
    assert (chosen.type, len(chosen)) == (pa.int32(), 0)


def test_opening_is_optional() -> None:
    ByKeyLength().open(0, 0)


def test_a_partitioner_must_choose() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Partitioner()


def test_a_plugin_without_options_gets_none_of_them() -> None:
    assert Plugin().options == NoOptions()
    assert Plugin(NoOptions()).options == NoOptions()
