from __future__ import annotations

import pytest

from millrace.contracts import TopicPartition
from millrace.testing import OffsetInitializerSuite
from millrace_offsets.specific import SpecificOffsets, SpecificOptions, parse_offsets


class TestSpecificOffsets(OffsetInitializerSuite):
    def make_initializer(self) -> SpecificOffsets:
        return SpecificOffsets(
            SpecificOptions(entries=parse_offsets("partition:0,offset:42;topic:payments,partition:0,offset:7"))
        )

    def test_gives_what_is_written_for_any_topic_or_for_one(self) -> None:
        assert self.offsets() == {TopicPartition("orders", 0): 42, TopicPartition("payments", 0): 7}


def test_the_references_text_is_read() -> None:
    assert parse_offsets("partition:0,offset:42;partition:1,offset:300") == ((None, 0, 42), (None, 1, 300))


@pytest.mark.parametrize("text", ["", "0:42", "partition:0", "partition:0,offset:-1", "partition:0,offset:1;"])
def test_another_text_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected 'partition:0,offset:42;partition:1,offset:300'"):
        parse_offsets(text)


def test_a_partition_named_twice_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'partition:0,offset:2' names one again"):
        parse_offsets("partition:0,offset:1;partition:0,offset:2")
