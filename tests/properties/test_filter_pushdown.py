"""A batch that reads fewer offsets by its filters has the rows of one that reads all, whatever the order of times."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Any, NamedTuple, cast

from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.datasource import EqualNullSafe, Filter, GreaterThanOrEqual, In, IsNotNull, IsNull, Not

from millrace.configuration.build import configure_source
from millrace.contracts import TopicPartition
from millrace.kafka.admin import KafkaAdmin
from millrace.kafka.murmur2 import partition_of_key
from millrace.source.enumerator.conditions import narrow
from millrace.source.enumerator.key_partitions import WriterPartitions
from millrace.source.enumerator.log_times import BrokerTimes
from millrace.spark.pushed_filters import PushedFilters
from support.pushed_filters import COMPARISONS, passes

OPTIONS = {
    "properties.bootstrap.servers": "h:1",
    "topic": "a;b",
    "scan.filter-pushdown": "true",
    "scan.filter-pushdown.key-partitioner": "default",
}
CONFIG = configure_source(OPTIONS)
PARTITIONS = 3
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Record(NamedTuple):
    """A record; a timestamp of -1 is none."""

    topic: str
    partition: int
    offset: int
    millis: int
    key: bytes | None

    @property
    def columns(self) -> dict[str, Any]:
        time = None if self.millis < 0 else EPOCH + timedelta(milliseconds=self.millis)
        return {**self._asdict(), "timestamp": time}


class Logs(NamedTuple):
    """Records by partitions, in the order of their offsets."""

    records: dict[TopicPartition, list[Record]]

    def offsets_for_timestamp(
        self, partitions: Collection[TopicPartition], millis: int
    ) -> Mapping[TopicPartition, tuple[int, int]]:
        """Look up offsets by timestamps, as a broker does."""
        first = {p: next((r for r in self.records[p] if r.millis >= millis), None) for p in partitions}
        return {p: (-1, -1) if record is None else (record.offset, record.millis) for p, record in first.items()}

    @property
    def disorder(self) -> int:
        """By how much a timestamp is before an earlier one."""
        steps = [0]
        for records in self.records.values():
            millis = [record.millis for record in records if record.millis >= 0]
            steps += [greatest - later for greatest, later in zip(accumulate(millis, max), millis, strict=True)]
        return max(steps)


def logs_of(lengths: dict[TopicPartition, list[tuple[int, int, bytes | None]]]) -> Logs:
    """Make logs of gaps, timestamps and keys; a record with a key is where its key says."""
    records: dict[TopicPartition, list[Record]] = {}
    for partition, listed in lengths.items():
        offsets = accumulate(gap for gap, *_ in listed)
        made = [
            Record(*partition, offset, millis, key) for offset, (_, millis, key) in zip(offsets, listed, strict=True)
        ]
        records[partition] = [
            record
            if record.key is None or partition_of_key(record.key, PARTITIONS) == partition.partition
            else record._replace(key=None)
            for record in made
        ]
    return Logs(records)


times = st.integers(-1, 30)
keys = st.none() | st.sampled_from([b"", b"a", b"bc", b"order-17"])
partitions = st.builds(TopicPartition, st.sampled_from(["a", "b"]), st.integers(0, PARTITIONS - 1))
logs = st.dictionaries(
    partitions, st.lists(st.tuples(st.integers(1, 3), times, keys), max_size=12), min_size=1, max_size=6
).map(logs_of)

micros = st.integers(-2_500, 32_500) | st.integers(0, 30).map(lambda millis: millis * 1_000)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "topic": st.sampled_from(["a", "b", "c"]),
    "partition": st.integers(-1, PARTITIONS),
    "offset": st.integers(-1, 30),
    "timestamp": micros.map(lambda value: EPOCH + timedelta(microseconds=value)),
    "key": st.sampled_from([b"", b"a", b"bc", b"order-17", b"nowhere"]),
}


@st.composite
def filters_on(draw: st.DrawFn, column: str) -> Filter:
    values, path = VALUES[column], (column,)
    made: Filter = draw(
        st.sampled_from(list(COMPARISONS)).flatmap(lambda kind: values.map(lambda value: kind(path, value)))
        | st.lists(st.none() | values, min_size=1, max_size=3).map(lambda several: In(path, tuple(several)))
        | st.sampled_from([IsNull(path), IsNotNull(path), EqualNullSafe(path, None)])
    )
    return Not(made) if draw(st.booleans()) else made


filters = st.lists(st.sampled_from(list(VALUES)).flatmap(filters_on), max_size=4)


def rows(records: list[Record], conditions: Iterable[Filter]) -> list[Record]:
    listed = tuple(conditions)
    return [record for record in records if passes(record.columns, listed)]


def read(logs: Logs, start: Mapping[TopicPartition, int], stop: Mapping[TopicPartition, int]) -> list[Record]:
    return [
        record
        for partition, offset in start.items()
        for record in logs.records[partition]
        if offset <= record.offset < stop[partition]
    ]


@given(logs, filters, st.booleans(), st.integers(0, 5), st.integers(0, 5))
def test_the_rows_are_those_of_a_read_of_all_offsets(
    logs: Logs, filters: list[Filter], knows_order: bool, skipped: int, left: int
) -> None:
    start = dict.fromkeys(logs.records, skipped)
    stop = {p: max(skipped, (records[-1].offset + 1 if records else 0) - left) for p, records in logs.records.items()}
    pushed = PushedFilters.of(filters, CONFIG)
    times = BrokerTimes(cast("KafkaAdmin", logs), logs.disorder if knows_order else None)
    keys = WriterPartitions(CONFIG.key_partitioner, lambda _: PARTITIONS)

    narrowed = narrow(start, stop, pushed.conditions, times, keys)

    records = read(logs, start, stop)
    assert rows(read(logs, *narrowed), pushed.remaining) == rows(records, filters)
    for partition, first in narrowed[0].items():
        assert start[partition] <= first <= narrowed[1][partition] <= max(stop[partition], first)


@given(logs, st.integers(0, 30))
def test_nothing_is_read_before_the_first_record_of_a_lower_bound(logs: Logs, millis: int) -> None:
    start = dict.fromkeys(logs.records, 0)
    stop = dict.fromkeys(logs.records, 100)
    bound = GreaterThanOrEqual(("timestamp",), EPOCH + timedelta(milliseconds=millis + 1))
    times = BrokerTimes(cast("KafkaAdmin", logs), 0)
    pushed = PushedFilters.of([bound], CONFIG)

    narrowed = narrow(start, stop, pushed.conditions, times, WriterPartitions(None, lambda _: PARTITIONS))

    for partition, records in logs.records.items():
        first = [record.offset for record in records if record.millis > millis][:1]
        assert [record.offset for record in read(logs, *narrowed) if record[:2] == partition][:1] == first
