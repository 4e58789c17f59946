"""The conformance suite for offset initializers."""
# ruff: noqa: D102, S101 - tests are made of assertions, and their names say what the contract asks

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Mapping

import pytest

from millrace.contracts import OffsetInitializer, OffsetLookup, TopicPartition
from millrace.testing.plugin_options import PluginOptionsSuite


class LogLookup:
    """An `OffsetLookup` on logs given by their first and end offsets.

    Records have the timestamps 1000, 2000, 3000 ... by their offsets from the log's beginning.

    Args:
        logs: For each partition the earliest offset and the offset after the last record.
        committed: The consumer group's offsets.

    Attributes:
        requests: The number of requests of each kind to the cluster.
    """

    def __init__(
        self, logs: Mapping[TopicPartition, tuple[int, int]], committed: Mapping[TopicPartition, int] | None = None
    ) -> None:
        self.requests: Counter[str] = Counter()
        self._logs = dict(logs)
        self._committed = dict(committed or {})

    def begin(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """The earliest offsets: see `OffsetLookup.begin`."""
        self.requests["begin"] += 1
        return {partition: self._logs[partition][0] for partition in partitions}

    def end(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """The end offsets: see `OffsetLookup.end`."""
        self.requests["end"] += 1
        return {partition: self._logs[partition][1] for partition in partitions}

    def at_timestamp(self, partitions: Collection[TopicPartition], millis: int) -> dict[TopicPartition, int]:
        """The offsets from a time on: see `OffsetLookup.at_timestamp`."""
        self.requests["at_timestamp"] += 1
        bounds = {partition: self._logs[partition] for partition in partitions}
        steps = max(0, -(-millis // 1000) - 1)
        return {partition: min(begin + steps, end) for partition, (begin, end) in bounds.items()}

    def committed(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, int]:
        """The group's offsets: see `OffsetLookup.committed`."""
        self.requests["committed"] += 1
        return {partition: self._committed[partition] for partition in partitions if partition in self._committed}


class OffsetInitializerSuite(PluginOptionsSuite):
    """Tests that an offset initializer keeps its contract.

    Subclass it in a test module, with a name that pytest collects, and override `make_initializer`; override `logs` too
    when the initializer's options name topics, partitions or offsets::

        class TestHalfway(OffsetInitializerSuite):
            def make_initializer(self):
                return HalfwayOffset()

            def test_is_in_the_middle(self):
                assert self.offsets() == {...}

    The lookup has the methods of `OffsetLookup` alone and answers from `logs`, so that an initializer which needs more
    than that fails. The right offsets are for tests of your own; `offsets` helps to write them.

    Rules that the tests check:

    - Only partitions that were asked for get an offset: a Python int, at least 0. A partition may be left out.
    - The offset of a partition does not depend on which others are asked for. No partitions have no offsets.
    - Partitions come in any collection, and in any order; it is left as it was.
    - Each method of the lookup is called once at most, with all partitions: each call is a request to the cluster.
    - The same cluster and options give the same offsets: a query that is planned again starts where it did.
    """

    @abstractmethod
    def make_initializer(self) -> OffsetInitializer:
        """Make a new offset initializer."""

    def logs(self) -> Mapping[TopicPartition, tuple[int, int]]:
        """Describe the cluster: for each partition its earliest offset and the offset after its last record."""
        return {
            TopicPartition("orders", 0): (0, 100),
            TopicPartition("orders", 1): (40, 90),
            TopicPartition("orders", 2): (0, 0),
            TopicPartition("payments", 0): (7, 7),
            TopicPartition("payments", 11): (2**40, 2**40 + 1),
        }

    def committed(self) -> Mapping[TopicPartition, int]:
        """Return the offsets that the consumer group has committed."""
        return {TopicPartition("orders", 0): 12, TopicPartition("payments", 11): 2**40}

    def lookup(self) -> LogLookup:
        """Make the lookup that answers from `logs`."""
        return LogLookup(self.logs(), self.committed())

    def make_plugin(self) -> OffsetInitializer:
        """Make the offset initializer for the tests of its options."""
        return self.make_initializer()

    def offsets(self, initializer: OffsetInitializer | None = None) -> Mapping[TopicPartition, int]:
        """Return the initializer's offsets for all partitions of `logs`."""
        lookup: OffsetLookup = self.lookup()
        return (initializer or self.make_initializer()).offsets(list(self.logs()), lookup)

    def test_is_an_offset_initializer(self) -> None:
        assert isinstance(self.make_initializer(), OffsetInitializer), "subclass millrace.contracts.OffsetInitializer"

    def test_only_partitions_that_were_asked_for_get_an_offset(self) -> None:
        assert set(self.offsets()) <= set(self.logs()), "expected offsets of the partitions that were asked for alone"

    def test_offsets_are_plain_numbers_from_zero(self) -> None:
        for partition, offset in self.offsets().items():
            assert type(offset) is int, f"{partition}: offsets stand in the checkpoint as JSON numbers"
            assert offset >= 0, f"{partition}: offsets below 0 mean something else to every client"

    def test_no_partitions(self) -> None:
        assert dict(self.make_initializer().offsets([], self.lookup())) == {}, "no partitions have no offsets"

    def test_one_partition_of_many(self) -> None:
        for partition in self.logs():
            chosen = self.make_initializer().offsets([partition], self.lookup())
            expected = {other: offset for other, offset in self.offsets().items() if other == partition}
            assert dict(chosen) == expected, f"{partition} alone must get the offset that it gets among others"

    @pytest.mark.parametrize("collection", [list, tuple, set, frozenset, dict.fromkeys])
    def test_any_collection_of_partitions(self, collection: type) -> None:
        logs = self.logs()
        partitions = collection(logs)
        assert self.make_initializer().offsets(partitions, self.lookup()) == self.offsets(), (
            f"partitions in a {collection} must get the same offsets: do not index, sort or exhaust the collection"
        )
        assert partitions == collection(logs), "the collection belongs to the caller"

    def test_all_partitions_are_looked_up_at_once(self) -> None:
        lookup = self.lookup()
        self.make_initializer().offsets(list(self.logs()), lookup)
        assert all(count == 1 for count in lookup.requests.values()), (
            f"each look-up is a request to the cluster: make it once, with all partitions; got {dict(lookup.requests)}"
        )

    def test_the_same_cluster_gives_the_same_offsets(self) -> None:
        initializer = self.make_initializer()
        assert self.offsets(initializer) == self.offsets(initializer) == self.offsets(), (
            "the same cluster must give the same offsets: no clock, no random number, nothing kept from call to call"
        )

    def test_pickled_options_give_the_same_offsets(self) -> None:
        remade = self.remake_plugin()
        assert isinstance(remade, OffsetInitializer), "an executor makes the plugin of its class and its options"
        assert self.offsets(remade) == self.offsets(), "an initializer of the same options must find the same offsets"
