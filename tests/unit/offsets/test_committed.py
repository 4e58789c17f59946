from __future__ import annotations

from millrace.testing import OffsetInitializerSuite
from millrace_offsets.committed import GroupOffsets


class TestGroupOffsets(OffsetInitializerSuite):
    def make_initializer(self) -> GroupOffsets:
        return GroupOffsets()

    def test_gives_the_groups_offsets_where_there_are_any(self) -> None:
        assert self.offsets() == self.committed()
