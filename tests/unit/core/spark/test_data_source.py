"""The data source as Spark's Python worker uses it, without a session."""

from __future__ import annotations

import os
import pickle

import pytest
from pyspark.sql.datasource import InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxBytes, ReadMaxRows, ReadMinRows
from pyspark.sql.types import BinaryType, LongType, StringType, StructField, StructType

from millrace.configuration import build
from millrace.errors import MillraceError, OptionsError, SchemaError
from millrace.source.splits import OffsetRange, Split
from millrace.spark.errors import user_errors
from millrace.spark.failed_stream_reader import FailedStreamReader
from millrace.spark.options import connector_options
from millrace.spark.reader_base import SplitPartition
from millrace.worker import RESOURCES
from pyspark_millrace import DefaultSource

SERVERS = {"properties.bootstrap.servers": "h:1"}
VALUE = StructType([StructField("value", BinaryType())])
ID = StructType([StructField("id", LongType())])
TABLE_ROWS = StructType([StructField("row_kind", StringType()), *ID.fields])
TABLE = {
    "connector": "upsert-kafka",
    "key.format": "json",
    "key.fields": "id",
    "value.format": "json",
    "state.checkpoints.dir": "/nowhere",
}
HIDE = "SPARK_HIDE_TRACEBACK"


@pytest.fixture(autouse=True)
def _unset(monkeypatch: pytest.MonkeyPatch) -> None:
    # Set and deleted, so that what the code under test sets is taken back
    monkeypatch.setenv(HIDE, "0")
    monkeypatch.delenv(HIDE)


def test_it_is_called_millrace() -> None:
    assert DefaultSource.name() == "millrace"


def test_a_warning_is_told_where_it_is_made_and_not_where_spark_sends_it(caplog: pytest.LogCaptureFixture) -> None:
    given = {**SERVERS, "topic": "a", "sink.semantic": "at-least-once"}
    # A process that has said nothing yet, as each in which Spark plans
    RESOURCES.drop(build.SHOWN_WARNINGS)
    source = DefaultSource(given)
    assert source.schema()
    assert caplog.messages == ["option 'sink.semantic' is deprecated: write 'sink.delivery-guarantee'"]

    caplog.clear()
    RESOURCES.drop(build.SHOWN_WARNINGS)
    RESOURCES.drop(build.PARSED_OPTIONS)
    sent = pickle.loads(pickle.dumps(source))
    sent.reader(VALUE)
    sent.streamReader(VALUE)
    assert caplog.messages == []
    DefaultSource({**given, "topic": "b"})
    assert len(caplog.messages) == 1


def test_wrong_options_are_told_as_soon_as_it_is_made() -> None:
    with pytest.raises(OptionsError, match="unknown option 'topicc'; did you mean 'topic'"):
        DefaultSource({**SERVERS, "topicc": "a"})


@pytest.mark.parametrize("option", [{"scan.startup.mode": "erliest-offset"}, {"sink.partitioner": "fixd"}])
def test_a_misspelled_plugin_is_reported_before_spark_says_read_or_write(option: dict[str, str]) -> None:
    with pytest.raises(OptionsError, match="Did you mean"):
        DefaultSource({**SERVERS, **option})


def test_a_plugin_that_may_be_missing_is_reported_when_it_is_used() -> None:
    made = DefaultSource({**SERVERS, "topic": "a", "sink.partitioner": "acme.geo:GeoPartitioner"})
    assert made.schema()
    with pytest.raises(OptionsError, match=r"option 'sink\.partitioner': partitioner 'acme\.geo:GeoPartitioner'"):
        made.writer(VALUE, False)
    assert os.environ[HIDE] == "1"


@pytest.mark.parametrize("name", ["checkpointLocation", "checkpointlocation", "queryName"])
def test_options_that_are_sparks_own_are_left_to_spark(name: str) -> None:
    DefaultSource({**SERVERS, name: "x"})
    assert connector_options({name: "x", "topic": "a"}) == {"topic": "a"}


def test_columns_that_cannot_be_read_are_refused_before_a_job_starts() -> None:
    data_source = DefaultSource({**SERVERS, "topic": "a"})
    with pytest.raises(SchemaError, match="column 'id'"):
        data_source.reader(ID)
    # Spark hides an error that is raised sooner
    failed = data_source.streamReader(ID)
    assert isinstance(failed, FailedStreamReader)
    for call in (
        failed.initialOffset,
        failed.getDefaultReadLimit,
        failed.prepareForTriggerAvailableNow,
        lambda: failed.latestOffset({}, ReadAllAvailable()),
        lambda: failed.partitions({}, {}),
        lambda: failed.read(InputPartition(None)),
    ):
        with pytest.raises(SchemaError, match="column 'id'"):
            call()
    failed.stop()


def test_columns_that_cannot_be_written_are_refused_before_the_brokers_are_asked() -> None:
    data_source = DefaultSource({**SERVERS, "topic": "a"})
    with pytest.raises(SchemaError, match="column 'id' cannot be written"):
        data_source.writer(ID, False)
    with pytest.raises(SchemaError, match="column 'id' cannot be written"):
        data_source.streamWriter(ID, False)


def test_a_topic_cannot_be_overwritten() -> None:
    with pytest.raises(OptionsError) as error:
        DefaultSource({**SERVERS, "topic": "a"}).writer(VALUE, True)
    assert str(error.value) == "wrong sink options: a topic cannot be overwritten; use .mode('append')"


def test_a_reader_needs_a_topic() -> None:
    with pytest.raises(OptionsError, match="option 'topic' is required"):
        DefaultSource(SERVERS).reader(VALUE).partitions()


@pytest.mark.parametrize(
    ("options", "limit"),
    [
        ({}, ReadAllAvailable),
        (TABLE, ReadMinRows),
        ({**TABLE, "changelog.mode": "upsert"}, ReadAllAvailable),
        ({**TABLE, "scan.max-records-per-batch": "5"}, ReadMaxRows),
        ({"scan.max-records-per-batch": "5"}, ReadMaxRows),
        ({"scan.max-bytes-per-batch": "5"}, ReadMaxBytes),
        ({"scan.max-records-per-batch": "5", "scan.max-bytes-per-batch": "5"}, ReadMaxRows),
    ],
)
def test_the_read_limit_is_the_users_or_that_of_tables_with_state(options: dict[str, str], limit: type) -> None:
    schema = TABLE_ROWS if "connector" in options else VALUE
    reader = DefaultSource({**SERVERS, "topic": "a", **options}).streamReader(schema)
    assert isinstance(reader.getDefaultReadLimit(), limit)


def test_readers_travel_to_executors() -> None:
    data_source = DefaultSource({**SERVERS, "topic": "a"})
    for reader in (data_source.reader(VALUE), data_source.streamReader(VALUE)):
        pickle.loads(pickle.dumps(reader))


def test_a_stream_plans_a_micro_batch_without_asking_the_cluster() -> None:
    reader = DefaultSource({**SERVERS, "topic": "a"}).streamReader(VALUE)
    (partition,) = reader.partitions({"v": 1, "topics": {"a": {"0": 3}}}, {"v": 1, "topics": {"a": {"0": 5}}})
    assert partition.value == Split((OffsetRange(("a", 0), 3, 5),))


def test_a_stream_has_seen_nothing_before_it_looked() -> None:
    assert DefaultSource({**SERVERS, "topic": "a"}).streamReader(VALUE).reportLatestOffset() is None


def test_an_empty_partition_of_sparks_own_is_read_as_nothing() -> None:
    reader = DefaultSource({**SERVERS, "topic": "a"}).reader(VALUE)
    assert list(reader.read(InputPartition(None))) == []


def test_a_split_travels_in_its_partition() -> None:
    split = Split((OffsetRange(("a", 0), 3, 5),))
    assert pickle.loads(pickle.dumps(SplitPartition(split))).value == split


def test_errors_of_millrace_reach_the_user_without_a_stack() -> None:
    with pytest.raises(MillraceError), user_errors():
        raise MillraceError("what happened")
    assert os.environ[HIDE] == "1"


def test_other_errors_keep_their_stack() -> None:
    shown = user_errors()
    shown.__enter__()
    # An error that this module has raised would be blamed on plugins of other tests, which are in the same package
    assert not shown.__exit__(ZeroDivisionError, ZeroDivisionError("division by zero"), None)
    assert HIDE not in os.environ
