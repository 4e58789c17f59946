from __future__ import annotations

import zlib

import pytest

from millrace.contracts import Payloads
from millrace.testing import PartitionerSuite
from millrace_partitioner_example.region import RegionOptions, RegionPartitioner, parse_separator


def partitions(partitioner: RegionPartitioner, *keys: bytes | None) -> list[int | None]:
    partitioner.open(task_index=0, task_count=1)
    return partitioner.partition("orders", Payloads(keys), Payloads.nulls(len(keys)), 10).to_pylist()


class TestRegionPartitioner(PartitionerSuite):
    """The suite that every partitioner must pass."""

    records = (*PartitionerSuite.records, (b"eu:1", b"a"), (b"us:1", b"b"), (b"eu:2", None), (b":", b"c"))

    def make_partitioner(self) -> RegionPartitioner:
        return RegionPartitioner()


class TestRegionPartitionerWithSeparator(TestRegionPartitioner):
    """The same, with an option set."""

    def make_partitioner(self) -> RegionPartitioner:
        return RegionPartitioner(RegionOptions(separator="--"))


def test_a_region_has_one_partition() -> None:
    assert partitions(RegionPartitioner(), b"eu:1", b"eu:2", b"eu:2:3") == [zlib.crc32(b"eu") % 10] * 3


def test_regions_are_spread() -> None:
    assert len(set(partitions(RegionPartitioner(), b"eu:1", b"us:1", b"apac:1"))) > 1


def test_records_without_a_region_are_left_to_the_client() -> None:
    assert partitions(RegionPartitioner(), None, b"", b"17") == [None, None, None]


def test_the_separator_is_an_option() -> None:
    partitioner = RegionPartitioner(RegionOptions(separator="--"))
    assert partitions(partitioner, b"eu--1", b"eu:1") == [zlib.crc32(b"eu") % 10, None]


def test_an_empty_separator_is_refused() -> None:
    with pytest.raises(ValueError, match="expected at least one character"):
        parse_separator("")
