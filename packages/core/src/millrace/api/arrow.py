"""Read topics as Arrow record batches, without a Spark session."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pyarrow as pa

from millrace.configuration.build import configure_source
from millrace.errors import MillraceError, OptionsError
from millrace.gc_control import resuming_garbage_collection
from millrace.kafka.statistics import STATISTICS_OFF
from millrace.options.secrets import Properties
from millrace.plugins.failures import plugin_errors
from millrace.spark.ddl import parse_ddl
from millrace.spark.options import connector_options
from millrace.spark.schema import columns_of_read, distinct_columns, spark_schema
from millrace.spark.split_reader import SplitReader, batch_splits
from millrace.spark.time_zones import local_time_zone, to_arrow_time_zone
from millrace.worker import WorkerResources

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from millrace.source.splits import OffsetRange, Split


def read_arrow(
    options: Mapping[str, object],
    schema: StructType | pa.Schema | str | None = None,
    *,
    time_zone: str | None = None,
) -> ArrowReader:
    """Read topics as Arrow record batches, with the options, rows and errors of a batch read by Spark.

    It starts no Java and needs no Spark session. Options and columns are checked at once; the offsets to read are
    looked up when rows or splits are first asked for.

    For example, with ``kafka = {"properties.bootstrap.servers": "localhost:9092"}``::

        orders = millrace.read_arrow({**kafka, "topic": "orders", "format": "json"}, "id BIGINT, amount DOUBLE")
        table = pyarrow.table(orders)

    Args:
        options: The options of ``spark.read.format("millrace")``.
        schema: The columns, as for ``.schema(...)``: text in Spark's DDL, a schema of Spark's, or one of Arrow's. None
            for those that the format knows, or that are inferred.
        time_zone: The time zone of text that has none, which Spark calls ``spark.sql.session.timeZone``; None for this
            machine's.

    Returns:
        What yields the rows. Its types are those that Spark uses for its own, timestamps in UTC.

    Raises:
        OptionsError: Options are wrong, the message lists all problems; or there is no such time zone.
        SchemaError: The schema is wrong, or missing, or a format cannot give one of its columns.
        UnreachableError, UnknownTopicError: Columns are to be found in the topics, and no broker answered, or there is
            no such topic.
    """
    with plugin_errors():
        config = configure_source(connector_options({name: _text(value) for name, value in options.items()}))
        # Nobody asks for the client's statistics
        config = replace(config, client=Properties({**config.client, **STATISTICS_OFF}))
        columns = columns_of_read(config) if schema is None else distinct_columns(_parsed(schema))
        reader = SplitReader.checked(config, columns)
    return ArrowReader(reader, _arrow_zone(time_zone or local_time_zone()))


class _RecordBatches(ABC):
    """Rows as record batches.

    Whatever takes the Arrow C stream interface takes it: ``pyarrow.table``, ``polars.DataFrame``, DuckDB, pandas. Each
    iteration reads again, with a Kafka client of its own, and holds no more than a few batches in memory.

    Iterating raises:
        DataLossError, ClientError: Records are gone, or the brokers refused, or did not answer.
        MessageError: A message is malformed, and that is not tolerated.
        PluginFailedError: A plugin has raised an exception that it should not raise.

    A library that takes the C stream raises an exception of its own, with the message of the error.
    """

    def __init__(self, reader: SplitReader, zone: str) -> None:
        self._reader = reader
        self._zone = zone

    @property
    def schema(self) -> pa.Schema:
        """The columns of each batch."""
        return self._reader.schema

    def read(self) -> pa.RecordBatchReader:
        """Return the rows as a reader of pyarrow's, to be read once."""
        return pa.RecordBatchReader.from_batches(self.schema, iter(self))

    def __iter__(self) -> Generator[pa.RecordBatch]:
        """Yield the rows, batch by batch; to close the generator ends the read."""
        return resuming_garbage_collection(self._batches(self._splits))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows as a C stream, of the Arrow PyCapsule interface.

        It is specified in https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html.
        """
        batches = _without_traceback(iter(self))
        return pa.RecordBatchReader.from_batches(self.schema, batches).__arrow_c_stream__(requested_schema)

    def _batches(self, plan: Callable[[], Sequence[Split]]) -> Generator[pa.RecordBatch]:
        from millrace.source.reader.split_metrics import SplitMetrics

        # Clients of its own: a consumer has one reader at a time, and a program may have several
        resources = WorkerResources()
        try:
            with plugin_errors():
                for split in plan():
                    metrics = SplitMetrics()
                    error_policy = self._reader.error_policy(metrics, resources)
                    batches = self._reader.read(split, self._zone, metrics, error_policy, resources)
                    with closing(batches):
                        yield from batches
                    error_policy.check_share_of_task()
        finally:
            resources.close()

    @abstractmethod
    def _splits(self) -> Sequence[Split]:
        """Return what to read."""


class ArrowReader(_RecordBatches):
    """The rows of topics between two offsets of each partition, as `read_arrow` returns them.

    Iterate over it for record batches, call `read` for a `pyarrow.RecordBatchReader`, or give it to whatever takes the
    Arrow C stream interface: ``pyarrow.table``, ``polars.DataFrame``. Each of these reads the rows from Kafka again.

    Attributes:
        schema: The columns of each batch.
    """

    def __init__(self, reader: SplitReader, zone: str) -> None:
        super().__init__(reader, zone)
        self._planned: list[ArrowSplit] | None = None

    def splits(self) -> list[ArrowSplit]:
        """Return the parts of the read, as Spark divides it into tasks; each record is in one of them.

        They pickle, with the options of the read and so with its passwords. Workers of any kind read them, on any
        machine that has the same packages. They are planned once: every further call and every iteration has the same
        offsets.

        Raises:
            UnreachableError, UnknownTopicError, ClientError: Brokers did not answer, or there is no such topic.
        """
        if self._planned is None:
            with plugin_errors():
                planned = batch_splits(self._reader.config)
            self._planned = [ArrowSplit(self._reader, self._zone, split) for split in planned]
        return list(self._planned)

    def read_in_order(self) -> Generator[pa.RecordBatch]:
        """Yield the rows by partition and offset, batch by batch; iterating reads small partitions together.

        Raises:
            MillraceError: As iterating.
        """
        return resuming_garbage_collection(self._batches(self._ordered_splits))

    def _splits(self) -> Sequence[Split]:
        return [part for split in self.splits() for part in split._splits()]

    def _ordered_splits(self) -> Sequence[Split]:
        parts = (replace(split, ranges=(part,)) for split in self._splits() for part in split.ranges)
        return sorted(parts, key=lambda split: (split.ranges[0].partition, split.ranges[0].start))

    def __repr__(self) -> str:
        return f"ArrowReader({', '.join(self.schema.names)})"


class ArrowSplit(_RecordBatches):
    """A part of a read, for one worker: see `ArrowReader.splits`. Its rows are read like those of an `ArrowReader`.

    Attributes:
        schema: The columns of each batch.
        ranges: The offsets that it reads, each range of another partition.
    """

    def __init__(self, reader: SplitReader, zone: str, split: Split) -> None:
        super().__init__(reader, zone)
        self._split = split

    @property
    def ranges(self) -> tuple[OffsetRange, ...]:
        """The offsets that it reads, each range of another partition."""
        return self._split.ranges

    def _splits(self) -> Sequence[Split]:
        return (self._split,)

    def __repr__(self) -> str:
        return f"ArrowSplit({', '.join(map(str, self.ranges))})"


def _parsed(schema: StructType | pa.Schema | str) -> StructType:
    if isinstance(schema, str):
        return parse_ddl(schema)
    return spark_schema(schema) if isinstance(schema, pa.Schema) else schema


def _without_traceback(batches: Generator[pa.RecordBatch]) -> Generator[pa.RecordBatch]:
    """Yield batches; an error leaves its stack behind, which Arrow would put into the message of the stream's."""
    with closing(batches):
        try:
            yield from batches
        except MillraceError as error:
            raise error.with_traceback(None) from None


def _arrow_zone(name: str) -> str:
    zone = to_arrow_time_zone(name)
    try:
        # Arrow would find out with the first text to decode
        if not zone.startswith(("+", "-")):
            ZoneInfo(zone)
    except (ValueError, KeyError, OSError):
        problem = f"time_zone: there is no zone {name!r}; expected one such as 'Europe/Berlin' or '+05:30'"
        raise OptionsError("millrace", (problem,)) from None
    return zone


def _text(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value
