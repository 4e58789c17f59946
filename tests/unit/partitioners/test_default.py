from __future__ import annotations

from millrace.contracts import Payloads
from millrace.testing import PartitionerSuite
from millrace_partitioners.default import DefaultPartitioner


class TestDefaultPartitioner(PartitionerSuite):
    def make_partitioner(self) -> DefaultPartitioner:
        return DefaultPartitioner()

    def test_leaves_every_choice_to_the_client(self) -> None:
        keys, values = Payloads([b"key", None, b""]), Payloads([b"a", b"b", None])
        assert self.make_partitioner().partition("topic", keys, values, 4).to_pylist() == [None, None, None]
