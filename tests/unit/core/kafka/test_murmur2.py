"""The hash by which Kafka's clients choose partitions."""

from __future__ import annotations

import pytest

from millrace.kafka.murmur2 import murmur2, partition_of_key


@pytest.mark.parametrize(
    ("text", "signed"),
    [
        ("21", -973932308),
        ("foobar", -790332482),
        ("a-little-bit-long-string", -985981536),
        ("a-little-bit-longer-string", -1486304829),
        ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        ("abc", 479470107),
    ],
)
def test_it_is_that_of_the_tests_of_kafka(text: str, signed: int) -> None:
    """Of ``UtilsTest.testMurmur2``."""
    assert murmur2(text.encode()) == signed % 2**32


def test_a_partition_is_never_negative() -> None:
    assert partition_of_key(b"21", 7) == (-973932308 & 0x7FFFFFFF) % 7
