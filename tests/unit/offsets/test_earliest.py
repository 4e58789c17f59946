from __future__ import annotations

from millrace.testing import OffsetInitializerSuite
from millrace_offsets.earliest import EarliestOffset


class TestEarliestOffset(OffsetInitializerSuite):
    def make_initializer(self) -> EarliestOffset:
        return EarliestOffset()

    def test_gives_the_first_offset_in_each_log(self) -> None:
        assert self.offsets() == {partition: begin for partition, (begin, _) in self.logs().items()}
