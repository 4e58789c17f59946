from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import pyarrow as pa
import pytest

from millrace.configuration.build import configure_source
from millrace.contracts import TopicPartition
from millrace.errors import OptionsError
from millrace.kafka.consumer import consumer_for
from millrace.options.secrets import Properties
from millrace.records.messages import Messages
from millrace.records.spark_kafka_columns import spark_kafka_schema
from millrace.source.reader.dead_letters import DiscardingCollector
from millrace.source.reader.error_policy import ErrorPolicy
from millrace.source.reader.pipeline import MANY_MESSAGES, build_record_batches, consumer_of_split
from millrace.source.reader.split_metrics import SplitMetrics
from millrace.source.splits import OffsetRange, Split
from millrace.worker import WorkerResources

Make = Callable[..., Messages]
SCHEMA = spark_kafka_schema(include_headers=False)
KEPT, DROPPED = {"headers": [("a", b"1")], "value": b"v"}, {"value": b"w"}


@pytest.fixture
def read(messages: Make) -> Callable[..., Iterator[object]]:
    """Read these batches instead of fetching them."""

    def start(
        *batches: Messages, fails: bool = False, metrics: SplitMetrics | None = None, **options: str
    ) -> Iterator[object]:
        def fetched() -> Iterator[Messages]:
            yield from batches
            if fails:
                raise RuntimeError("broken")

        given = {"properties.bootstrap.servers": "h:1", **{"scan." + name: value for name, value in options.items()}}
        config = configure_source({k.replace("_", "-"): v for k, v in given.items()})
        counts = metrics or SplitMetrics()
        error_policy = ErrorPolicy(config.options, counts, DiscardingCollector())
        return build_record_batches(fetched(), config, SCHEMA, "UTC", counts, error_policy)

    return start


@pytest.fixture
def resources() -> Iterator[WorkerResources]:
    resources = WorkerResources()
    yield resources
    resources.close()


def values(batches: Iterable[pa.RecordBatch]) -> list[list[bytes]]:
    return [batch.column("value").to_pylist() for batch in batches]


def valued(messages: Make, *values: bytes) -> Messages:
    return messages(*({"headers": [("a", b"1")], "value": value} for value in values))


def test_few_messages_become_one_batch_of_rows(read: Callable[..., Iterator], messages: Make) -> None:
    rows = list(read(valued(messages, b"1", b"2"), valued(messages, b"3"), valued(messages, b"4")))
    assert values(rows) == [[b"1", b"2", b"3", b"4"]]
    assert all(batch.schema == SCHEMA for batch in rows)


def test_the_last_messages_may_be_filtered_out(read: Callable[..., Iterator], messages: Make) -> None:
    fetched = valued(messages, b"1"), valued(messages, b"2"), messages(DROPPED)
    assert values(read(*fetched, header_filter="a:1")) == [[b"1", b"2"]]


def test_large_batches_are_not_copied_into_one(read: Callable[..., Iterator], messages: Make) -> None:
    large, small = bytes(64 * 1024), b"small"
    rows = read(valued(messages, large), valued(messages, small), valued(messages, small))
    assert values(rows) == [[large], [small, small]]


def test_small_messages_are_joined_up_to_a_number(read: Callable[..., Iterator], messages: Make) -> None:
    rows = list(read(messages(*[KEPT] * 600), messages(*[KEPT] * 600), messages(KEPT)))
    assert [batch.num_rows for batch in rows] == [1_200, 1]


def test_messages_of_several_partitions_become_one_batch_of_rows(read: Callable[..., Iterator], messages: Make) -> None:
    def of(partition: int, value: bytes) -> Messages:
        return replace(
            messages({"partition": partition, "value": value}), partition=TopicPartition("orders", partition)
        )

    metrics = SplitMetrics()
    [rows] = read(of(0, b"a"), of(1, b"b"), of(0, b"c"), metrics=metrics)
    assert rows["partition"].to_pylist() == [0, 1, 0]
    assert rows["value"].to_pylist() == [b"a", b"b", b"c"]
    assert [partition.partition for partition, count in metrics.counts.items() if count.emit_lag_ms is not None] == [
        0,
        1,
    ]


def test_a_large_batch_does_not_wait_for_more_messages(read: Callable[..., Iterator], messages: Make) -> None:
    rows = read(valued(messages, bytes(64 * 1024)), fails=True)
    assert next(rows).num_rows == 1
    with pytest.raises(RuntimeError, match="broken"):
        next(rows)


def test_the_header_filter_goes_first_and_empty_batches_are_left_out(
    read: Callable[..., Iterator], messages: Make
) -> None:
    rows = list(read(messages(DROPPED), messages(DROPPED, KEPT), header_filter="a:1"))
    assert [batch.column("value").to_pylist() for batch in rows] == [[b"v"]]


def test_another_language_of_header_filters_can_be_chosen(read: Callable[..., Iterator], messages: Make) -> None:
    language = {"filter.language": "support.plugins:AnyHeader"}
    rows = list(read(messages(DROPPED, KEPT, DROPPED), header_filter="any", **language))
    assert [batch.num_rows for batch in rows] == [1]
    with pytest.raises(OptionsError, match=r"option 'scan.header-filter': expected 'any'; got 'all'"):
        read(messages(), header_filter="all", **language)


def test_a_language_of_header_filters_has_options_of_its_own(read: Callable[..., Iterator], messages: Make) -> None:
    language = {"filter.language": "support.plugins:HeaderCount"}
    assert len(list(read(messages(KEPT), header_filter="any", **language))) == 1
    assert list(read(messages(KEPT), header_filter="any", **language, **{"filter.minimum": "2"})) == []
    with pytest.raises(OptionsError, match=r"option 'scan.filter.minimum': expected a whole number; got 'two'"):
        read(messages(), header_filter="any", **language, **{"filter.minimum": "two"})


def test_garbage_is_not_collected_while_a_split_is_read(read: Callable[..., Iterator], messages: Make) -> None:
    reading = read(messages(KEPT), messages(KEPT))
    assert gc.isenabled()
    next(reading)
    assert not gc.isenabled()
    list(reading)
    assert gc.isenabled()


def test_garbage_is_collected_again_after_a_failure(read: Callable[..., Iterator], messages: Make) -> None:
    with pytest.raises(RuntimeError, match="broken"):
        list(read(messages(KEPT), fails=True))
    assert gc.isenabled()


def test_garbage_is_collected_again_when_nobody_reads_on(read: Callable[..., Iterator], messages: Make) -> None:
    reading = read(messages(KEPT), messages(KEPT))
    next(reading)
    reading.close()
    assert gc.isenabled()


def test_garbage_collection_stays_off_where_it_was_off(read: Callable[..., Iterator], messages: Make) -> None:
    gc.disable()
    try:
        list(read(messages(KEPT)))
        assert not gc.isenabled()
    finally:
        gc.enable()


def split(*counts: int) -> Split:
    return Split(tuple(OffsetRange(TopicPartition("a", number), 0, count) for number, count in enumerate(counts)))


@pytest.mark.parametrize("few", [split(MANY_MESSAGES - 1), split(MANY_MESSAGES, 1)], ids=["of one", "of several"])
def test_ranges_of_many_messages_have_a_consumer_of_their_own(resources: WorkerResources, few: Split) -> None:
    client = Properties({"bootstrap.servers": "127.0.0.1:1"})
    assert consumer_of_split(client, few, resources) is consumer_for(client, resources)
    many = consumer_of_split(client, split(MANY_MESSAGES), resources)
    assert many is not consumer_for(client, resources)
    assert consumer_of_split(client, split(MANY_MESSAGES + 1), resources) is many


@pytest.mark.parametrize("name", ["fetch.message.max.bytes", "max.partition.fetch.bytes"])
def test_a_user_who_sets_the_size_of_fetches_has_one_consumer(resources: WorkerResources, name: str) -> None:
    client = Properties({"bootstrap.servers": "127.0.0.1:1", name: "500000"})
    assert consumer_of_split(client, split(MANY_MESSAGES), resources) is consumer_for(client, resources)
