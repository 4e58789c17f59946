from __future__ import annotations

from millrace.testing import OffsetInitializerSuite
from millrace_offsets.latest import LatestOffset


class TestLatestOffset(OffsetInitializerSuite):
    def make_initializer(self) -> LatestOffset:
        return LatestOffset()

    def test_gives_the_offset_after_each_logs_last_record(self) -> None:
        assert self.offsets() == {partition: end for partition, (_, end) in self.logs().items()}
