from __future__ import annotations

import pytest

from millrace.contracts import TopicPartition
from millrace.errors import OptionsError
from millrace.options.parse import OptionParser
from millrace.testing import OffsetInitializerSuite
from millrace_offsets.timestamp import TimestampOffset, TimestampOptions


class TestTimestampOffset(OffsetInitializerSuite):
    def make_initializer(self) -> TimestampOffset:
        return TimestampOffset(TimestampOptions(millis=2_500))

    def test_gives_the_first_record_that_is_not_before_it(self) -> None:
        offsets = self.offsets()
        assert offsets[TopicPartition("orders", 0)] == 2
        assert offsets[TopicPartition("orders", 1)] == 42

    def test_gives_the_end_of_a_partition_without_such_a_record(self) -> None:
        assert self.offsets()[TopicPartition("orders", 2)] == 0


@pytest.mark.parametrize("text", ["yesterday", "-1", ""])
def test_a_time_that_is_none_is_refused(text: str) -> None:
    parser = OptionParser("source", {"scan.startup.timestamp-millis": text})
    parser.take(TimestampOptions, "scan.startup.")
    with pytest.raises(OptionsError, match=r"option 'scan\.startup\.timestamp-millis': expected"):
        parser.finish()


def test_a_time_is_required() -> None:
    parser = OptionParser("source", {})
    parser.take(TimestampOptions, "scan.startup.")
    with pytest.raises(OptionsError, match=r"option 'scan\.startup\.timestamp-millis' is required"):
        parser.finish()
